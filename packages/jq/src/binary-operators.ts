// The operator table of the parser: for each operator how tightly it binds, how it groups, and the node it
// makes. `parse-program.ts` reads `LEVELS` where the grammar stops at a level, for example at a comma inside
// of an object.

import type { ArithmeticOperator } from './arithmetic.ts';
import type { Assignment, Node } from './syntax.ts';

/** An operator between two expressions. */
interface BinaryOperator {
  readonly level: number;
  readonly groups: 'left' | 'right' | 'never';
  readonly combine: (left: Node, right: Node) => Node;
}

/** How tightly operators bind, loosest first. `as` takes everything in front of it but pipes and commas. */
export const LEVELS = {
  pipe: 0,
  comma: 1,
  bind: 2,
  alternative: 3,
  assign: 4,
  or: 5,
  and: 6,
  comparison: 7,
  sum: 8,
  product: 9,
};
const ASSIGNMENTS: readonly Assignment[] = ['=', '|=', '+=', '-=', '*=', '/=', '%=', '//='];
const COMPARISONS: readonly ArithmeticOperator[] = ['==', '!=', '<', '<=', '>', '>='];
const SUMS: readonly ArithmeticOperator[] = ['+', '-'];
const PRODUCTS: readonly ArithmeticOperator[] = ['*', '/', '%'];

export const BINARY_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  flow('|', 'pipe', 'right'),
  flow(',', 'comma', 'left'),
  flow('//', 'alternative', 'right'),
  flow('or', 'or', 'left'),
  flow('and', 'and', 'left'),
  // Assignments do not chain: `.a = .b = 1` is a syntax error in jq.
  ...ASSIGNMENTS.map((operator): [string, BinaryOperator] => [
    operator,
    {
      level: LEVELS.assign,
      groups: 'never',
      combine: (left, right) => ({ type: 'assign', operator, left, right }),
    },
  ]),
  ...COMPARISONS.map((operator) => operation(operator, LEVELS.comparison, 'never')),
  ...SUMS.map((operator) => operation(operator, LEVELS.sum, 'left')),
  ...PRODUCTS.map((operator) => operation(operator, LEVELS.product, 'left')),
]);

/** The row of an operator that decides which sides run: its name is the type of the node. */
function flow(
  symbol: string,
  type: 'pipe' | 'comma' | 'alternative' | 'or' | 'and',
  groups: BinaryOperator['groups'],
): [string, BinaryOperator] {
  return [symbol, { level: LEVELS[type], groups, combine: (left, right) => ({ type, left, right }) }];
}

/** The row of an operator that computes a value from both sides. */
function operation(
  operator: ArithmeticOperator,
  level: number,
  groups: BinaryOperator['groups'],
): [string, BinaryOperator] {
  return [
    operator,
    { level, groups, combine: (left, right) => ({ type: 'operator', operator, left, right }) },
  ];
}
