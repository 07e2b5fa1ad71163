// Assignments. The left side runs as a path expression, the right side on the whole input (for `|=` on the
// old value at each place). All changes of one assignment go to a `Draft`, so that many places in one large
// object copy it once.

import { type ArithmeticOperator, applyOperator } from './arithmetic.ts';
import { Cell, type Run } from './cell.ts';
import { pathsOf, rooted } from './compile-access.ts';
import { deletePaths } from './delete-paths.ts';
import { Draft } from './draft.ts';
import { firstOf, flatMap } from './flow.ts';
import type { Path } from './paths.ts';
import type { Assignment } from './syntax.ts';
import { isTruthy, type Value } from './value.ts';

/** `left operator right`, where the left is a path expression. */
export function compileAssign(operator: Assignment, left: Run, right: Run): Run {
  if (operator === '|=')
    return (env, cell) => cell.made(updated(cell, left(env, rooted(cell)), (old) => right(env, old)));
  const combine = combinations[operator];
  return (env, cell) =>
    flatMap(right(env, cell.plain), ({ value }) => {
      const draft = new Draft(cell.value);
      for (const path of pathsOf(left(env, rooted(cell)))) draft.set(path, combine(draft.take(path), value));
      return cell.made(draft.value);
    });
}

/** The new value at a place, from the old one and the output of the right side. */
type Combine = (old: Value, value: Value) => Value;

/** `left += right` and its kin apply the operator to the old value. */
function operation(operator: ArithmeticOperator): Combine {
  return (old, value) => applyOperator(operator, old, value);
}

const combinations: Readonly<Record<Exclude<Assignment, '|='>, Combine>> = {
  '=': (_, value) => value,
  '+=': operation('+'),
  '-=': operation('-'),
  '*=': operation('*'),
  '/=': operation('/'),
  '%=': operation('%'),
  '//=': (old, value) => (isTruthy(old) ? old : value),
};

/** The value with the first output of `update` at each place; places without output are deleted. */
function updated(cell: Cell, places: ReturnType<Run>, update: (old: Cell) => ReturnType<Run>): Value {
  const gone: Path[] = [];
  const draft = new Draft(cell.value);
  for (const path of pathsOf(places)) {
    const output = firstOf(update(new Cell(draft.take(path), undefined)));
    if (output === undefined) gone.push(path);
    else draft.set(path, output.value);
  }
  return gone.length === 0 ? draft.value : deletePaths(draft.value, gone);
}
