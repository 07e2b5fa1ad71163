// Access to parts of a value (`.a`, `.[1:2]`, `.[]`, `..`) and path expressions. Inside `path(…)`, `del(…)`
// and on the left of an assignment each cell carries its path; the functions here extend it with every step
// and refuse expressions whose results are no part of the input. Outside of path expressions `path` is
// undefined and costs nothing.

import { itemsOf, valueAt } from './access.ts';
import { Cell, NO_OUTPUTS, NOWHERE, type Outputs, type Run } from './cell.ts';
import { flatMap, unfold } from './flow.ts';
import { JqError, shortened } from './jq-error.ts';
import type { Path } from './paths.ts';
import type { Scope } from './scope.ts';
import type { Node } from './syntax.ts';
import { isArray, isObject, sortedKeys, type Value } from './value.ts';

/** Compiles a nested expression; passed in by `compile.ts`. */
export type Compile = (node: Node, scope: Scope) => Run;

/** `target[key]`; for each key all targets. */
export function compileIndex(target: Run, key: Run, constant: Value | undefined, step: Step): Run {
  if (constant !== undefined) {
    return (env, cell) => flatMap(target(env, cell), (found) => step(found, constant));
  }
  return (env, cell) =>
    flatMap(key(env, cell.plain), ({ value }) => flatMap(target(env, cell), (found) => step(found, value)));
}

/** A missing bound of a slice. */
const OPEN: Run = (_, cell) => cell.made(null);

/** `target[start:end]`; an open bound is null. */
export function compileSlice(target: Run, start: Run | undefined, end: Run | undefined, step: Step): Run {
  const [from, to] = [start ?? OPEN, end ?? OPEN];
  return (env, cell) =>
    flatMap(from(env, cell.plain), (first) =>
      flatMap(to(env, cell.plain), (last) =>
        flatMap(target(env, cell), (found) => step(found, { end: last.value, start: first.value })),
      ),
    );
}

/** `target[]` */
export function compileIterate(target: Run, isOptional: boolean): Run {
  return (env, cell) =>
    flatMap(target(env, cell), (found) =>
      isOptional && !isNested(found.value) ? NO_OUTPUTS : children(found),
    );
}

/** Goes to the value at a key. */
type Step = (cell: Cell, key: Value) => Outputs;

/** {@link childAt}, or nothing where a key does not fit. */
export function childAtOr(isOptional: boolean): Step {
  if (!isOptional) return childAt;
  return (cell, key) => {
    try {
      return childAt(cell, key);
    } catch (error) {
      if (error instanceof JqError) return NO_OUTPUTS;
      throw error;
    }
  };
}

/** The value at a key of the cell's value. */
function childAt(cell: Cell, key: Value): Cell {
  if (cell.path === undefined) return new Cell(valueAt(cell.value, key), undefined);
  const path = pathOf(cell, `access element ${shortened(key)} of`);
  return new Cell(valueAt(cell.value, key), [...path, key]);
}

/** Every item of an array or object. */
export function children(cell: Cell): Outputs {
  if (cell.path !== undefined) pathOf(cell, 'iterate through');
  return childrenOf(cell, itemsOf(cell.value));
}

/** The items in the order of sorted keys, each with its path if the cell has one. */
function* childrenOf(cell: Cell, items: readonly Value[]): Iterable<Cell> {
  if (cell.path === undefined) {
    for (const item of items) yield new Cell(item, undefined);
    return;
  }
  const keys = isObject(cell.value) ? sortedKeys(cell.value) : [...items.keys()];
  // `pathOf` has thrown before for NOWHERE; the empty path only satisfies the type.
  const path = cell.path === NOWHERE ? [] : cell.path;
  for (const [at, item] of items.entries()) yield new Cell(item, [...path, keys[at] ?? null]);
}

/** `..`: the value and everything inside it. */
export function everything(cell: Cell): Outputs {
  return unfold(cell, (node) => ({ outputs: node, children: isNested(node.value) ? children(node) : [] }));
}

function isNested(value: Value): boolean {
  return isArray(value) || isObject(value);
}

/** The path of the cell; throws JqError when it is not known. */
export function pathOf(cell: Cell, attempt: string): Path {
  if (cell.path === undefined || cell.path === NOWHERE) {
    throw new JqError(`Invalid path expression near attempt to ${attempt} ${shortened(cell.value)}`);
  }
  return cell.path;
}

/** The places that an expression leads to from a value. Throws JqError for an expression that makes values. */
export function* pathsOf(outputs: Outputs): Iterable<Path> {
  for (const cell of outputs instanceof Cell ? [outputs] : outputs) {
    if (cell.path === undefined || cell.path === NOWHERE) {
      throw new JqError(`Invalid path expression with result ${shortened(cell.value)}`);
    }
    yield cell.path;
  }
}

/** The cell as the root of a path expression. */
export function rooted(cell: Cell): Cell {
  return new Cell(cell.value, []);
}
