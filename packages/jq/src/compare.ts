// The order of all values, which `==`, `<`, `sort`, `group_by`, `unique` and the paths of `del` share. It is that of
// jq: by type first, objects by their sorted keys and then by their values. Two integers beyond 2^53 are compared by
// all their digits.

import { pairFailure } from './jq-error.ts';
import {
  compareText,
  ExactInteger,
  getOwn,
  isArray,
  isNumber,
  isObject,
  sortedKeys,
  toDouble,
  type Value,
} from './value.ts';

/** The order of the types. */
const RANKS = { null: 0, false: 1, true: 2, number: 3, string: 4, array: 5, object: 6 } as const;

/** The rank of a value's type; false and true are types of their own. */
function rankOf(value: Value): number {
  if (value === null) return RANKS.null;
  if (typeof value === 'boolean') return value ? RANKS.true : RANKS.false;
  if (typeof value === 'string') return RANKS.string;
  if (isNumber(value)) return RANKS.number;
  return isArray(value) ? RANKS.array : RANKS.object;
}

/** Order of any two values: null, false, true, numbers, strings, arrays, objects. NaN is less than any number. */
export function compare(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (isArray(left) && isArray(right)) return compareArrays(left, right);
  if (isObject(left) && isObject(right)) {
    const [leftKeys, rightKeys] = [sortedKeys(left), sortedKeys(right)];
    const byKeys = compareArrays(leftKeys, rightKeys);
    if (byKeys !== 0) return byKeys;
    return compareArrays(
      leftKeys.map((key) => getOwn(left, key)),
      leftKeys.map((key) => getOwn(right, key)),
    );
  }
  return rankOf(left) - rankOf(right);
}

/** NaN sorts before every number, itself included, so it equals nothing. */
function compareNumbers(left: number | ExactInteger, right: number | ExactInteger): number {
  const [one, other] = [toDouble(left), toDouble(right)];
  if (one < other || Number.isNaN(one)) return -1;
  if (one > other || Number.isNaN(other)) return 1;
  // Only an integer that was written down has more digits than its double.
  if (!(left instanceof ExactInteger && right instanceof ExactInteger)) return 0;
  return Number(BigInt(left.text) - BigInt(right.text));
}

/** Item by item; a prefix comes before the longer array. */
function compareArrays(left: readonly Value[], right: readonly Value[]): number {
  for (const [at, item] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const order = compare(item, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** As `==`. */
export function isEqual(left: Value, right: Value): boolean {
  return compare(left, right) === 0;
}

/** Items with the key they are ordered by. */
export interface Keyed {
  readonly key: Value;
  readonly value: Value;
}

/** Stable: items with equal keys stay as they were. */
export function sortedByKey(items: readonly Keyed[]): Keyed[] {
  return items.toSorted((left, right) => compare(left.key, right.key));
}

/** Runs of items with equal keys, in the order of the keys. */
export function groupsByKey(items: readonly Keyed[]): Value[][] {
  const groups: Value[][] = [];
  let last: Keyed | undefined;
  for (const item of sortedByKey(items)) {
    if (last !== undefined && isEqual(last.key, item.key)) groups.at(-1)?.push(item.value);
    else groups.push([item.value]);
    last = item;
  }
  return groups;
}

/** Whether every part of `inner` is in `outer`: substrings, items, values of keys. */
export function contains(outer: Value, inner: Value): boolean {
  if (isObject(outer) && isObject(inner)) {
    return Object.keys(inner).every(
      (key) => Object.hasOwn(outer, key) && contains(getOwn(outer, key), getOwn(inner, key)),
    );
  }
  if (isArray(outer) && isArray(inner)) {
    return inner.every((part) => outer.some((item) => rankIsSame(item, part) && contains(item, part)));
  }
  if (typeof outer === 'string' && typeof inner === 'string') return outer.includes(inner);
  if (rankIsSame(outer, inner)) return isEqual(outer, inner);
  throw pairFailure(outer, inner, 'cannot have their containment checked');
}

/** Whether two values have the same type; false and true do here. */
function rankIsSame(left: Value, right: Value): boolean {
  const [one, other] = [left, right].map(rankOf);
  return one === other || (typeof left === 'boolean' && typeof right === 'boolean');
}
