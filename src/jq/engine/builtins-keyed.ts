import { itemsOf } from './access.ts';
import { extreme, firsts } from './builtins-value.ts';
import { Cell, type Env, type Run } from './cell.ts';
import { groupsByKey, type Keyed, sortedByKey } from './compare.ts';
import type { Builtin } from './compile-call.ts';
import { collect } from './flow.ts';
import { failure } from './jq-error.ts';
import { isArray, type Value } from './value.ts';
import type { BuiltinTable } from './value-builtin.ts';

/** Builtins that order the items of an array by all outputs that an expression has for them. */
export const KEYED_BUILTINS: BuiltinTable = {
  'sort_by/1': byKey((items) => sortedByKey(items).map(({ value }) => value)),
  'group_by/1': byKey(groupsByKey),
  'unique_by/1': byKey((items) => firsts(groupsByKey(items))),
  'min_by/1': byKey((items) => extreme(items, -1)),
  'max_by/1': byKey((items) => extreme(items, 1)),
};

function byKey(make: (items: readonly Keyed[]) => Value): Builtin {
  return ([key]) =>
    (env, cell) => {
      const items = itemsOf(cell.value).map((value) => ({ key: keyOf(key, env, value), value }));
      if (isArray(cell.value)) return cell.made(make(items));
      throw failure(cell.value, 'cannot be sorted, as it is not an array');
    };
}

function keyOf(key: Run | undefined, env: Env, value: Value): Value {
  return key === undefined ? value : collect(key(env, new Cell(value, undefined)));
}
