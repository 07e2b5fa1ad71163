// Builtins whose arguments are expressions: `select`, `first`, `limit`, `range`, `path`, `recurse` and the
// like. Each gets its arguments as functions that can be run on any input, so it controls how many outputs
// are computed; that is what makes `first(range(1e9))` end at once.

import { setMember } from '@addon-operator/json/set-member';
import { itemsOf } from './access.ts';
import { add, subtract } from './arithmetic.ts';
import { Cell, each, NO_OUTPUTS, NOWHERE, type Outputs, type Run } from './cell.ts';
import { everything, pathsOf, rooted } from './compile-access.ts';
import type { Builtin } from './compile-call.ts';
import { deletePaths } from './delete-paths.ts';
import { firstOf, flatMap, lastOf, take, unfold } from './flow.ts';
import { JqError } from './jq-error.ts';
import { asPath, getPath } from './paths.ts';
import { getOwn, isNumber, isObject, isTruthy, sortedKeys, toDouble, type Value } from './value.ts';
import type { BuiltinTable } from './value-builtin.ts';

/** A builtin whose arguments are expressions, not values. */
type Control = (cell: Cell, ...args: readonly ((input: Cell) => Outputs)[]) => Outputs;

/** Binds the arguments of each call to the environment of the caller. */
function control(run: Control): Builtin {
  return (args) => (env, cell) => run(cell, ...args.map((arg) => bound(arg, env)));
}

function bound(run: Run, env: Parameters<Run>[0]): (input: Cell) => Outputs {
  return (input) => run(env, input);
}

/** Default for arguments; never used, because the table is looked up by number of arguments. */
const none = (): Outputs => NO_OUTPUTS;

/** Builtins that decide how often their arguments run: they take expressions, not values. */
export const CONTROL_BUILTINS: BuiltinTable = {
  'empty/0': control(none),
  'error/0': control((cell) => {
    throw new JqError(cell.value);
  }),
  'error/1': control((cell, message = none) =>
    flatMap(message(cell.plain), ({ value }) => {
      throw new JqError(value);
    }),
  ),
  'select/1': control((cell, condition = none) =>
    flatMap(condition(cell.plain), ({ value }) => (isTruthy(value) ? cell : NO_OUTPUTS)),
  ),
  'recurse/0': control(everything),
  'recurse/1': control((cell, step = none) =>
    unfold(cell, (node) => ({ outputs: node, children: step(node) })),
  ),
  'repeat/1': control(function* (cell, expression = none) {
    for (;;) yield* each(expression(cell));
  }),
  'while/2': control((cell, condition = none, update = none) =>
    unfold(cell, (node) => {
      // Only the first output of the condition counts, while jq follows each of them.
      const isGoingOn = firstIsTruthy(condition(node.plain));
      return isGoingOn ? { outputs: node, children: update(node) } : { outputs: [], children: [] };
    }),
  ),
  'until/2': control((cell, condition = none, next = none) =>
    unfold(cell, (node) => {
      const isDone = firstIsTruthy(condition(node.plain));
      return isDone ? { outputs: node, children: [] } : { outputs: [], children: next(node) };
    }),
  ),
  'first/1': control((cell, expression = none) => firstOf(expression(cell)) ?? NO_OUTPUTS),
  'last/1': control((cell, expression = none) => lastOf(expression(cell)) ?? NO_OUTPUTS),
  'limit/2': control((cell, count = none, expression = none) =>
    flatMap(count(cell.plain), ({ value }) => {
      const wanted = countOf(value, "limit doesn't support negative count");
      return wanted === 0 ? NO_OUTPUTS : take(expression(cell), wanted);
    }),
  ),
  'skip/2': control((cell, count = none, expression = none) =>
    flatMap(count(cell.plain), ({ value }) => {
      const skipped = countOf(value, "skip doesn't support negative count");
      return skip(expression(cell), skipped);
    }),
  ),
  'nth/2': control((cell, count = none, expression = none) =>
    flatMap(count(cell.plain), ({ value }) => {
      const skipped = countOf(value, "nth doesn't support negative indices");
      return firstOf(skip(expression(cell), skipped)) ?? NO_OUTPUTS;
    }),
  ),
  'isempty/1': control((cell, expression = none) => cell.made(firstOf(expression(cell.plain)) === undefined)),
  'add/1': control((cell, expression = none) => {
    let sum: Value = null;
    for (const { value } of each(expression(cell.plain))) sum = add(sum, value);
    return cell.made(sum);
  }),
  'range/1': control((cell, end = none) => range(cell, zero, end, one)),
  'range/2': control((cell, start = none, end = none) => range(cell, start, end, one)),
  'range/3': control((cell, start = none, end = none, step = none) => range(cell, start, end, step)),
  'path/1': control(function* (cell, expression = none) {
    for (const path of pathsOf(expression(rooted(cell)))) yield cell.made(path);
  }),
  'del/1': control((cell, expression = none) =>
    cell.made(deletePaths(cell.value, [...pathsOf(expression(rooted(cell)))])),
  ),
  'getpath/1': control((cell, path = none) =>
    flatMap(path(cell.plain), ({ value }) => {
      const steps = asPath(value);
      const found = getPath(cell.value, steps);
      if (cell.path === undefined || cell.path === NOWHERE) return new Cell(found, cell.path);
      return new Cell(found, [...cell.path, ...steps]);
    }),
  ),
  'map_values/1': control((cell, update = none) => cell.made(mapValues(cell, update))),
};

const zero = (cell: Cell): Outputs => cell.made(0);
const one = (cell: Cell): Outputs => cell.made(1);

/** Whether the first output is true; no output counts as false. */
function firstIsTruthy(outputs: Outputs): boolean {
  const output = firstOf(outputs);
  return output !== undefined && isTruthy(output.value);
}

/** A count for `limit`, `skip` and `nth`. Throws JqError if it is negative or no number. */
function countOf(value: Value, whenNegative: string): number {
  // jq counts down with `$n - 1`, so its message for a wrong type is that of a subtraction.
  if (!isNumber(value)) subtract(value, 1);
  const count = isNumber(value) ? toDouble(value) : 0;
  if (count < 0) throw new JqError(whenNegative);
  return count;
}

/** The outputs after the first `count`. */
function* skip(outputs: Outputs, count: number): Iterable<Cell> {
  let left = count;
  for (const output of each(outputs)) {
    if (left <= 0) yield output;
    else left -= 1;
  }
}

type Expression = (input: Cell) => Outputs;

/** All combinations of the outputs of the three arguments; the first is the outermost loop. */
function range(cell: Cell, start: Expression, end: Expression, step: Expression): Outputs {
  return flatMap(start(cell.plain), (first) =>
    flatMap(end(cell.plain), (last) =>
      flatMap(step(cell.plain), (by) => numbers(cell, first.value, last.value, by.value)),
    ),
  );
}

/** Counts up or down; a step of zero gives nothing instead of looping for ever. */
function* numbers(cell: Cell, first: Value, last: Value, by: Value): Iterable<Cell> {
  if (!isNumber(first) || !isNumber(last) || !isNumber(by)) {
    throw new JqError('Range bounds must be numeric');
  }
  const [end, step] = [toDouble(last), toDouble(by)];
  let at = toDouble(first);
  while (step > 0 ? at < end : step < 0 && at > end) {
    yield cell.made(at);
    at += step;
  }
}

/** The first output for each item; items without output are left out. */
function mapValues(cell: Cell, update: Expression): Value {
  if (!isObject(cell.value)) {
    return itemsOf(cell.value).flatMap((item) => {
      const output = firstOf(update(new Cell(item, undefined)));
      return output === undefined ? [] : [output.value];
    });
  }
  const result: Record<string, Value> = {};
  for (const key of sortedKeys(cell.value)) {
    const output = firstOf(update(new Cell(getOwn(cell.value, key), undefined)));
    if (output !== undefined) setMember(result, key, output.value);
  }
  return result;
}
