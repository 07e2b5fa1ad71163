// `sort_by`, `group_by`, `unique_by`, `min_by` and `max_by`. The key of an item is the array of all outputs
// of the expression, so `sort_by(.a, .b)` sorts by `.a` and then by `.b`.

import { itemsOf } from './access.ts';
import { extreme, firsts } from './builtins-value.ts';
import { Cell, type Env, type Run } from './cell.ts';
import { groupsByKey, type Keyed, sortedByKey } from './compare.ts';
import type { Builtin } from './compile-call.ts';
import { collect } from './flow.ts';
import { pairFailure } from './jq-error.ts';
import { isArray, type Value } from './value.ts';
import type { BuiltinTable } from './value-builtin.ts';

const SORTED = 'cannot be sorted, as they are not both arrays';
const ITERATED = 'cannot be iterated over';

/** Builtins that order the items of an array by all outputs that an expression has for them. */
export const KEYED_BUILTINS: BuiltinTable = {
  'sort_by/1': byKey(SORTED, (items) => sortedByKey(items).map(({ value }) => value)),
  'group_by/1': byKey(SORTED, groupsByKey),
  'unique_by/1': byKey(SORTED, (items) => firsts(groupsByKey(items))),
  'min_by/1': byKey(ITERATED, (items) => extreme(items, -1)),
  'max_by/1': byKey(ITERATED, (items) => extreme(items, 1)),
};

/** The keys are computed before the type is checked, as in jq: their errors come first. */
function byKey(problem: string, make: (items: readonly Keyed[]) => Value): Builtin {
  return ([key]) =>
    (env, cell) => {
      const items = itemsOf(cell.value).map((value) => ({ key: keyOf(key, env, value), value }));
      if (isArray(cell.value)) return cell.made(make(items));
      const keys = items.map((item) => item.key);
      throw pairFailure(cell.value, keys, problem);
    };
}

/** All outputs of the key expression for one item. */
function keyOf(key: Run | undefined, env: Env, value: Value): Value {
  return key === undefined ? value : collect(key(env, new Cell(value, undefined)));
}
