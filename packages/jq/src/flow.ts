import { Cell, each, type Outputs } from './cell.ts';

/** The most items in an array that a program collects, and the most outputs: more would exhaust time and memory. */
export const MAX_ITEMS = 1_000_000;

/** A program exceeds a limit of the engine. Unlike a JqError it cannot be caught by `try`. */
export class LimitError extends Error {}

/** The outputs of `next` for every one of `outputs`, on demand. */
export function flatMap(outputs: Outputs, next: (cell: Cell) => Outputs): Outputs {
  return outputs instanceof Cell ? next(outputs) : flatMapped(outputs, next);
}

function* flatMapped(outputs: Iterable<Cell>, next: (cell: Cell) => Outputs): Iterable<Cell> {
  for (const output of outputs) {
    const results = next(output);
    if (results instanceof Cell) yield results;
    else yield* results;
  }
}

/** All outputs as an array of values. */
export function collect(outputs: Outputs): readonly Cell['value'][] {
  if (outputs instanceof Cell) return [outputs.value];
  const values: Cell['value'][] = [];
  for (const { value } of outputs) {
    values.push(value);
    if (values.length > MAX_ITEMS) throw new LimitError(`it makes an array of more than ${MAX_ITEMS} items`);
  }
  return values;
}

/** The first output; the others are never computed. */
export function firstOf(outputs: Outputs): Cell | undefined {
  for (const output of each(outputs)) return output;
  return undefined;
}

/** The last output, after computing all of them. */
export function lastOf(outputs: Outputs): Cell | undefined {
  let last: Cell | undefined;
  for (const output of each(outputs)) last = output;
  return last;
}

/** The first `count` outputs, at least one; the output after them is not computed. */
export function* take(outputs: Outputs, count: number): Iterable<Cell> {
  let left = count;
  for (const output of each(outputs)) {
    yield output;
    left -= 1;
    if (left <= 0) return;
  }
}

/**
 * Walks depth first over a tree whose nodes are cells: `visit` returns what a node gives and which nodes follow. A chain
 * needs no stack, however long it is.
 */
export function* unfold(
  root: Cell,
  visit: (node: Cell) => { readonly outputs: Outputs; readonly children: Outputs },
): Iterable<Cell> {
  const open: Iterator<Cell>[] = [];
  let node: Cell | undefined = root;
  while (node !== undefined) {
    const { outputs, children } = visit(node);
    yield* each(outputs);
    if (children instanceof Cell) {
      node = children;
    } else {
      open.push(children[Symbol.iterator]());
      node = nextNode(open);
    }
  }
}

/** The next node of the innermost level that has one. */
function nextNode(open: Iterator<Cell>[]): Cell | undefined {
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const next = top.next();
    if (next.done !== true) return next.value;
    open.pop();
  }
  return undefined;
}
