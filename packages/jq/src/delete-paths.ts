// `del` and `delpaths`. All paths refer to the original value, so deletions must not shift each other: the
// paths are sorted, grouped by their step at each depth and applied from the last one to the first.

import { type Bounds, boundsOf, valueAt } from './access.ts';
import { compare, isEqual } from './compare.ts';
import { Draft } from './draft.ts';
import { JqError } from './jq-error.ts';
import { asPath, type Path } from './paths.ts';
import { isArray, isNumber, isObject, toDouble, typeName, type Value, type ValueObject } from './value.ts';

/** A copy without the values at the paths. All paths refer to the value before the deletion. */
export function deletePaths(value: Value, paths: Value): Value {
  if (!isArray(paths)) throw new JqError('Paths must be specified as an array');
  const sorted = paths.map((path) => {
    if (!isArray(path)) throw new JqError(`Path must be specified as array, not ${typeName(path)}`);
    return asPath(path);
  });
  sorted.sort(compare);
  if (sorted.length === 0) return value;
  return sorted[0]?.length === 0 ? null : deleteSorted(value, sorted, 0);
}

/** @param depth steps of the paths that led to `value` */
function deleteSorted(value: Value, paths: readonly Path[], depth: number): Value {
  const endingKeys: Value[] = [];
  const draft = new Draft(value);
  for (let end = paths.length; end > 0; ) {
    const key = paths[end - 1]?.[depth] ?? null;
    let start = end - 1;
    while (start > 0 && isEqual(paths[start - 1]?.[depth] ?? null, key)) start -= 1;
    if (paths[start]?.length === depth + 1) {
      endingKeys.push(key);
    } else {
      const child = valueAt(draft.value, key);
      const rest = paths.slice(start, end);
      if (child !== null) draft.set([key], deleteSorted(child, rest, depth + 1));
    }
    end = start;
  }
  return endingKeys.length === 0 ? draft.value : withoutKeys(draft.value, endingKeys);
}

/** Removes keys of an object, or indexes and slices of an array, all at once. */
function withoutKeys(target: Value, keys: readonly Value[]): Value {
  if (target === null) return null;
  if (isObject(target)) return withoutProperties(target, keys);
  if (!isArray(target)) throw new JqError(`Cannot delete fields from ${typeName(target)}`);
  const isGone = new Uint8Array(target.length);
  for (const key of keys) {
    const { start, end } = placesOf(target, key);
    isGone.fill(1, Math.max(0, start), Math.max(0, end));
  }
  return target.filter((_, at) => isGone[at] !== 1);
}

/** The range of an array that an index or a slice means; it may lie outside of the array. */
function placesOf(target: readonly Value[], key: Value): Bounds {
  if (isObject(key)) return boundsOf(target.length, key);
  if (!isNumber(key)) throw new JqError(`Cannot delete ${typeName(key)} element of array`);
  const index = Math.trunc(toDouble(key));
  const start = index < 0 ? index + target.length : index;
  return { start, end: start + 1 };
}

/** A copy of an object without some of its keys. */
function withoutProperties(target: ValueObject, keys: readonly Value[]): Value {
  const names = new Set(
    keys.map((key) => {
      if (typeof key !== 'string') throw new JqError(`Cannot delete ${typeName(key)} field of object`);
      return key;
    }),
  );
  return Object.fromEntries(Object.entries(target).filter(([key]) => !names.has(key)));
}
