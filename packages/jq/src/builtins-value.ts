// Builtins that need only values: each is a pure function of its input and arguments, wrapped by `ofValues`,
// which runs it for every combination of argument outputs. Messages are those of jq 1.8 where users can see
// them; the rest of this file is their helpers, in the order of the table.

import { setMember } from '@addon-operator/json/set-member';
import { indexesOf, itemsOf, positionsOf, valueAt } from './access.ts';
import { add, negate, splitString } from './arithmetic.ts';
import { compare, contains, groupsByKey, isEqual, type Keyed, sortedByKey } from './compare.ts';
import { deletePaths } from './delete-paths.ts';
import { asString, codePoints, formatted, fromCodePoints } from './formats.ts';
import { described, failure, JqError, pairFailure } from './jq-error.ts';
import { parseJson, parseValue } from './json-parser.ts';
import { toJson } from './json-text.ts';
import { parseNumber } from './number-text.ts';
import { asPath, setPath } from './paths.ts';
import {
  getOwn,
  isArray,
  isNumber,
  isObject,
  isTruthy,
  sortedKeys,
  toDouble,
  typeName,
  type Value,
} from './value.ts';
import { type BuiltinTable, ofValues } from './value-builtin.ts';

/** Builtins that make one value of their input and the values of their arguments. */
export const VALUE_BUILTINS: BuiltinTable = {
  'not/0': ofValues((input) => !isTruthy(input)),
  'env/0': ofValues(() => ({})),
  'have_literal_numbers/0': ofValues(() => true),
  'have_decnum/0': ofValues(() => false),
  'type/0': ofValues(typeName),
  'length/0': ofValues(lengthOf),
  'utf8bytelength/0': ofValues((input) => {
    if (typeof input !== 'string') throw failure(input, 'only strings have UTF-8 byte length');
    return Buffer.byteLength(input);
  }),
  'keys/0': ofValues(keysOf),
  'keys_unsorted/0': ofValues(keysOf),
  'has/1': ofValues((input, key = null) => has(input, key)),
  'contains/1': ofValues((input, part = null) => contains(input, part)),
  'add/0': ofValues((input) => itemsOf(input).reduce(add, null)),
  'abs/0': ofValues((input) => (compare(input, 0) < 0 ? negate(input) : input)),
  'toarray/0': ofValues((input) => (isArray(input) ? input : [input])),
  'tostring/0': ofValues(asString),
  'tojson/0': ofValues(toJson),
  'fromjson/0': ofValues(fromJson),
  'format/1': ofValues((input, name = null) => formatted(input, name)),
  'tonumber/0': ofValues(toNumber),
  'toboolean/0': ofValues((input) => {
    if (input === true || input === 'true') return true;
    if (input === false || input === 'false') return false;
    throw failure(input, 'cannot be parsed as a boolean');
  }),
  'explode/0': ofValues(codePoints),
  'implode/0': ofValues(fromCodePoints),
  'ascii/0': ofValues((input) => fromCodePoints([input])),
  'ascii_downcase/0': ofValues((input) => {
    codePoints(input);
    return asString(input).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  }),
  'ascii_upcase/0': ofValues((input) => {
    codePoints(input);
    return asString(input).replace(/[a-z]/g, (letter) => letter.toUpperCase());
  }),
  'startswith/1': ofValues((input, part = null) => startsWith(input, part)),
  'endswith/1': ofValues((input, part = null) => endsWith(input, part)),
  'ltrimstr/1': ofValues(trimStart),
  'rtrimstr/1': ofValues(trimEnd),
  'trimstr/1': ofValues((input, part = null) => trimEnd(trimStart(input, part), part)),
  'trim/0': ofValues((input) => trimmed(input, { start: true, end: true })),
  'ltrim/0': ofValues((input) => trimmed(input, { start: true, end: false })),
  'rtrim/0': ofValues((input) => trimmed(input, { start: false, end: true })),
  'split/1': ofValues((input, separator = null) => {
    if (typeof input === 'string' && typeof separator === 'string') return splitString(input, separator);
    throw new JqError('split input and separator must be strings');
  }),
  'join/1': ofValues(join),
  '_strindices/1': ofValues((input, part = null) => {
    if (typeof input !== 'string') throw failure(input, 'cannot be searched, as it is not a string');
    if (typeof part !== 'string') throw failure(part, 'is not a string');
    return positionsOf(input, part);
  }),
  'indices/1': ofValues((input, part = null) => indices(input, part)),
  'index/1': ofValues((input, part = null) => valueAt(indices(input, part), 0)),
  'rindex/1': ofValues((input, part = null) => valueAt(indices(input, part), -1)),
  'reverse/0': ofValues(reversed),
  'flatten/0': ofValues((input) => flattened(input, Number.POSITIVE_INFINITY)),
  'flatten/1': ofValues((input, depth = null) => {
    if (compare(depth, 0) < 0) throw new JqError('flatten depth must not be negative');
    return flattened(input, isNumber(depth) ? toDouble(depth) : Number.POSITIVE_INFINITY);
  }),
  'transpose/0': ofValues(transposed),
  'sort/0': ofValues((input) => sortedItems(input).map(({ value }) => value)),
  'unique/0': ofValues((input) => firsts(groupsByKey(selfKeyed(input)))),
  'min/0': ofValues((input) => extreme(iterable(input), -1)),
  'max/0': ofValues((input) => extreme(iterable(input), 1)),
  'bsearch/1': ofValues((input, wanted = null) => search(input, wanted)),
  'to_entries/0': ofValues(toEntries),
  'from_entries/0': ofValues(fromEntries),
  'setpath/2': ofValues((input, path = null, value = null) => setPath(input, asPath(path), value)),
  'delpaths/1': ofValues((input, paths = null) => deletePaths(input, paths)),
};

/** Characters of a string, items, keys, the absolute value of a number; 0 for null. */
function lengthOf(input: Value): Value {
  if (input === null) return 0;
  if (typeof input === 'string') return Array.from(input).length;
  if (isNumber(input)) return toDouble(input) < 0 || Object.is(input, -0) ? negate(input) : input;
  if (isArray(input)) return input.length;
  if (isObject(input)) return Object.keys(input).length;
  throw failure(input, 'has no length');
}

/** Sorted keys, or indexes; `keys_unsorted` is the same here, since keys are always met in sorted order. */
function keysOf(input: Value): Value {
  if (isArray(input)) return [...input.keys()];
  if (isObject(input)) return sortedKeys(input);
  throw failure(input, 'has no keys');
}

/** Whether a key or an index exists; a negative index never does. Null has no key. */
function has(input: Value, key: Value): boolean {
  if (input === null) return false;
  if (isObject(input) && typeof key === 'string') return Object.hasOwn(input, key);
  if (isArray(input) && isNumber(key)) {
    const index = Math.trunc(toDouble(key));
    return index >= 0 && index < input.length;
  }
  throw new JqError(`Cannot check whether ${typeName(input)} has a ${typeName(key)} key`);
}

/** An escape that may be half of a character, which JSON.parse lets pass. */
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;

/**
 * Parses a string as JSON. The lenient parser runs where JSON.parse would accept half of a surrogate pair.
 */
function fromJson(input: Value): Value {
  if (typeof input !== 'string') throw failure(input, 'only strings can be parsed');
  return HALF_CHARACTER.test(input) ? parseJson(input) : parseValue(input);
}

/** A number as it is, or the number that a string spells. */
function toNumber(input: Value): Value {
  const number = typeof input === 'string' ? parseNumber(input) : input;
  if (number !== undefined && isNumber(number)) return number;
  throw failure(input, 'cannot be parsed as a number');
}

/** Fails with jq's words, also for `ltrimstr`, which is built on it. */
function startsWith(input: Value, part: Value): boolean {
  if (typeof input === 'string' && typeof part === 'string') return input.startsWith(part);
  throw new JqError('startswith() requires string inputs');
}

/** The counterpart for the end, also used by `rtrimstr`. */
function endsWith(input: Value, part: Value): boolean {
  if (typeof input === 'string' && typeof part === 'string') return input.endsWith(part);
  throw new JqError('endswith() requires string inputs');
}

/** Without a prefix, if it is there. */
function trimStart(input: Value, part: Value = null): Value {
  return startsWith(input, part) ? asString(input).slice(asString(part).length) : input;
}

/** Without a suffix, if it is there. The length is computed because `slice(0, -0)` would be empty. */
function trimEnd(input: Value, part: Value = null): Value {
  return endsWith(input, part)
    ? asString(input).slice(0, asString(input).length - asString(part).length)
    : input;
}

/** White space in Unicode's sense, unlike that of `\s` with U+0085 and without U+FEFF. */
const BLANK = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Character by character: a regular expression anchored at the end would take quadratic time. */
function trimmed(input: Value, ends: { readonly start: boolean; readonly end: boolean }): Value {
  if (typeof input !== 'string') throw new JqError('trim input must be a string');
  let [start, end] = [0, input.length];
  if (ends.start) while (start < end && BLANK.test(input.charAt(start))) start += 1;
  if (ends.end) while (end > start && BLANK.test(input.charAt(end - 1))) end -= 1;
  return input.slice(start, end);
}

/** Joins with `+`, so a separator that is no string fails only if there are two items; null counts as "". */
function join(input: Value, separator: Value = null): Value {
  let joined: Value = null;
  for (const item of itemsOf(input)) {
    const start: Value = joined === null ? '' : add(joined, separator);
    const isPlain = typeof item === 'boolean' || isNumber(item);
    joined = add(start, isPlain ? asString(item) : (item ?? ''));
  }
  return joined ?? '';
}

/** Positions of a substring or of a subsequence; other inputs are indexed, as jq does. */
function indices(input: Value, part: Value): Value {
  if (typeof input === 'string' && typeof part === 'string') return positionsOf(input, part);
  if (isArray(input)) return indexesOf(input, isArray(part) ? part : [part]);
  return valueAt(input, part);
}

/** An array reversed; jq treats null, "" and 0 as empty and reports an index error for other inputs. */
function reversed(input: Value): Value {
  if (isArray(input)) return input.toReversed();
  if (toDouble(lengthNumber(input)) === 0) return [];
  return valueAt(input, toDouble(lengthNumber(input)) - 1);
}

/** The length as a plain number; 0 for an integer beyond 2^53, which is no length of anything here. */
function lengthNumber(input: Value): number {
  const length = lengthOf(input);
  return typeof length === 'number' ? length : 0;
}

/** Nested arrays spliced in, `depth` levels of them. */
function flattened(input: Value, depth: number): Value {
  return itemsOf(input).flatMap((item): readonly Value[] => {
    if (!isArray(item) || depth <= 0) return [item];
    const inner = flattened(item, depth - 1);
    return isArray(inner) ? inner : [];
  });
}

/** Rows to columns; shorter rows are filled with null. */
function transposed(input: Value): Value {
  const rows = itemsOf(input);
  const width = Math.max(0, ...rows.map((row) => lengthNumber(row)));
  return Array.from({ length: width }, (_, at) => rows.map((row) => valueAt(row, at)));
}

/** The items of an array as their own sort keys. Throws for anything but an array. */
function selfKeyed(input: Value): Keyed[] {
  if (!isArray(input)) throw failure(input, 'cannot be sorted, as it is not an array');
  return input.map((value) => ({ key: value, value }));
}

function sortedItems(input: Value): Keyed[] {
  return sortedByKey(selfKeyed(input));
}

/** The first of each group, for `unique` and `unique_by`. */
export function firsts(groups: readonly Value[][]): Value[] {
  return groups.map(([first = null]) => first);
}

/** As {@link selfKeyed}, with the message that `min` and `max` have. */
function iterable(input: Value): readonly Keyed[] {
  if (!isArray(input)) throw pairFailure(input, input, 'cannot be iterated over');
  return input.map((value) => ({ key: value, value }));
}

/** The first of the smallest, the last of the largest. */
export function extreme(items: readonly Keyed[], sign: 1 | -1): Value {
  let best: Keyed | undefined;
  for (const item of items) {
    const order = best === undefined ? sign : compare(item.key, best.key);
    if (sign > 0 ? order >= 0 : order < 0) best = item;
  }
  return best?.value ?? null;
}

/** Index in a sorted array, or -1 minus the index where the value belongs. */
function search(input: Value, wanted: Value): Value {
  if (!isArray(input)) throw failure(input, 'cannot be searched from');
  let [low, high] = [0, input.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (compare(input[middle] ?? null, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low < input.length && isEqual(input[low] ?? null, wanted) ? low : -1 - low;
}

/** An array of `{key, value}`; the key of an array is its index. */
function toEntries(input: Value): Value {
  const keys = keysOf(input);
  return itemsOf(keys).map((key) => ({ key, value: valueAt(input, key) }));
}

/** Accepts every spelling of the key that jq, its older versions and the original's engine accept. */
function fromEntries(input: Value): Value {
  const result: Record<string, Value> = {};
  for (const entry of itemsOf(input)) {
    const key = firstTruthy(entry, ['key', 'Key', 'k', 'K', 'name', 'Name']);
    if (typeof key !== 'string') throw new JqError(`Cannot use ${described(key)} as object key`);
    const valueKey = ['value', 'Value', 'v', 'V'].find(
      (name) => isObject(entry) && Object.hasOwn(entry, name),
    );
    setMember(result, key, isObject(entry) ? getOwn(entry, valueKey ?? 'value') : null);
  }
  return result;
}

/**
 * The first value that is neither null nor false, or else the last, so that a key `false` is still reported.
 */
function firstTruthy(entry: Value, names: readonly string[]): Value {
  const values = names.map((name) => valueAt(entry, name));
  return values.find(isTruthy) ?? values.at(-1) ?? null;
}
