import type { Cell, Env, Outputs, Run } from './cell.ts';
import type { Builtin } from './compile-call.ts';
import { flatMap } from './flow.ts';
import type { Value } from './value.ts';

/** Builtins by name and number of arguments, for example `has/1`. */
export type BuiltinTable = Readonly<Record<string, Builtin>>;

/** A builtin that makes one value of its input and the values of its arguments; the last argument changes slowest. */
export function ofValues(make: (input: Value, ...args: Value[]) => Value): Builtin {
  return (args) => {
    if (args.length === 0) return (_, cell) => cell.made(make(cell.value));
    return (env, cell) =>
      withArguments(args, [], env, cell, (values) => cell.made(make(cell.value, ...values)));
  };
}

/** A builtin that gives several values for its input and the values of its arguments. */
export function ofManyValues(make: (input: Value, ...args: Value[]) => Iterable<Value>): Builtin {
  return (args) => (env, cell) =>
    withArguments(args, [], env, cell, (values) => cellsOf(cell, make(cell.value, ...values)));
}

/** Values that are no part of the input, as cells. */
function* cellsOf(cell: Cell, values: Iterable<Value>): Iterable<Cell> {
  for (const value of values) yield cell.made(value);
}

/**
 * Collects one output of each argument, from the last argument to the first, and calls `use` for every
 * combination.
 */
function withArguments(
  args: readonly Run[],
  values: readonly Value[],
  env: Env,
  cell: Cell,
  use: (values: readonly Value[]) => Outputs,
): Outputs {
  const run = args[args.length - 1 - values.length];
  if (run === undefined) return use(values);
  return flatMap(run(env, cell.plain), ({ value }) =>
    withArguments(args, [value, ...values], env, cell, use),
  );
}
