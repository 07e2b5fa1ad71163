import { applyOperator, type Operator } from './arithmetic.ts';
import { Cell, type Run } from './cell.ts';
import { pathsOf, rooted } from './compile-access.ts';
import { firstOf, flatMap } from './flow.ts';
import { deletePaths, getPath, type Path, setPath } from './paths.ts';
import type { Assignment } from './syntax.ts';
import { isTruthy, type Value } from './value.ts';

/** `left operator right`, where the left is a path expression. */
export function compileAssign(operator: Assignment, left: Run, right: Run): Run {
  if (operator === '|=')
    return (env, cell) => cell.made(updated(cell, left(env, rooted(cell)), (old) => right(env, old)));
  const combine = combinations[operator];
  return (env, cell) =>
    flatMap(right(env, cell.plain), ({ value }) => {
      let result = cell.value;
      for (const path of pathsOf(left(env, rooted(cell)))) {
        result = setPath(result, path, combine(getPath(result, path), value));
      }
      return cell.made(result);
    });
}

type Combine = (old: Value, value: Value) => Value;

function operation(operator: Operator): Combine {
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
  let result = cell.value;
  for (const path of pathsOf(places)) {
    const output = firstOf(update(new Cell(getPath(result, path), undefined)));
    if (output === undefined) gone.push(path);
    else result = setPath(result, path, output.value);
  }
  return gone.length === 0 ? result : deletePaths(result, gone);
}
