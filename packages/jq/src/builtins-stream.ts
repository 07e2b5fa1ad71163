import { itemsOf, valueAt } from './access.ts';
import { Cell, each, type Outputs, type Run } from './cell.ts';
import { asPath, type Path, setPath } from './paths.ts';
import { isArray, isNumber, isObject, sortedKeys, toDouble, type Value } from './value.ts';
import { type BuiltinTable, ofManyValues } from './value-builtin.ts';

/** Builtins that take values apart into events, `[path, leaf]` or `[path of the last item]`, and put them together. */
export const STREAM_BUILTINS: BuiltinTable = {
  'tostream/0': ofManyValues((input) => eventsOf(input, [])),
  'fromstream/1':
    ([events]) =>
    (env, cell) =>
      assembled(cell, events?.(env, cell.plain) ?? []),
  'truncate_stream/1':
    ([events]) =>
    (env, cell) =>
      truncated(cell, events, env),
};

/**
 * The leaves of a value with their paths; an empty array or object is a leaf, and each level ends with its
 * last path.
 */
function* eventsOf(value: Value, path: Path): Iterable<Value> {
  const keys = isArray(value) ? [...value.keys()] : isObject(value) ? sortedKeys(value) : [];
  const last = keys.at(-1);
  if (last === undefined) {
    yield [path, value];
    return;
  }
  for (const key of keys) yield* eventsOf(valueAt(value, key), [...path, key]);
  yield [[...path, last]];
}

/** Builds values until an event closes the top level, and then starts the next one. */
function* assembled(cell: Cell, events: Outputs): Iterable<Cell> {
  let built: Value = null;
  for (const { value: event } of each(events)) {
    const [first = null, ...leaf] = itemsOf(event);
    const path = asPath(first);
    const [value] = leaf;
    if (value !== undefined) built = setPath(built, path, value);
    if (path.length === (value === undefined ? 1 : 0)) {
      yield cell.made(built);
      built = null;
    }
  }
}

/** Events deeper than the input says, without so many steps at their beginning. */
function* truncated(cell: Cell, events: Run | undefined, env: Parameters<Run>[0]): Iterable<Cell> {
  const depth = isNumber(cell.value) ? toDouble(cell.value) : 0;
  const outputs = events?.(env, new Cell(null, undefined)) ?? [];
  for (const { value: event } of each(outputs)) {
    const [first = null, ...leaf] = itemsOf(event);
    const path = asPath(first);
    if (path.length > depth) yield cell.made([path.slice(depth), ...leaf]);
  }
}
