import type { Path } from './paths.ts';
import type { Value } from './value.ts';

/** Marks a value without a known path. */
export const NOWHERE = 'nowhere';

/**
 * A value on its way through a program. Inside `path(…)` and on the left of assignments it carries its path in
 * the value they were given; elsewhere `path` is undefined.
 */
export class Cell {
  readonly value: Value;
  readonly path: Path | typeof NOWHERE | undefined;

  constructor(value: Value, path: Path | typeof NOWHERE | undefined) {
    this.value = value;
    this.path = path;
  }

  /** The same value, outside of any path expression. */
  get plain(): Cell {
    return this.path === undefined ? this : new Cell(this.value, undefined);
  }

  /** A value that was made from this one and is no part of it. */
  made(value: Value): Cell {
    return new Cell(value, this.path === undefined ? undefined : NOWHERE);
  }
}

/** The outputs of an expression for one input. Very often it is just one, which then needs no iterator. */
export type Outputs = Cell | Iterable<Cell>;

export const NO_OUTPUTS: Outputs = [];

/** The outputs as something to iterate, also when it is a single cell. */
export function each(outputs: Outputs): Iterable<Cell> {
  return outputs instanceof Cell ? [outputs] : outputs;
}

/** The names an expression can see at run time, the latest first: variables, closures, labels. */
export class Env {
  readonly parent: Env | undefined;
  readonly value: Value;
  readonly closure: Closure | undefined;

  constructor(parent: Env | undefined, value: Value, closure: Closure | undefined) {
    this.parent = parent;
    this.value = value;
    this.closure = closure;
  }
}

/** A compiled expression. */
export type Run = (env: Env, cell: Cell) => Outputs;

/** An expression with the names it sees. */
export interface Closure {
  readonly run: Run;
  readonly env: Env;
}

/** The environment `hops` names further out. */
export function ascend(env: Env, hops: number): Env {
  let current = env;
  for (let left = hops; left > 0; left -= 1) current = current.parent ?? current;
  return current;
}

/** Ends the `label` whose environment it carries. */
export class Break extends Error {
  readonly label: Env;

  constructor(label: Env) {
    super('break');
    this.label = label;
  }
}
