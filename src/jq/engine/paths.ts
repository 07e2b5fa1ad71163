import { type Bounds, boundsOf, cannotIndex, valueAt } from './access.ts';
import { compare, isEqual } from './compare.ts';
import { JqError } from './jq-error.ts';
import { withProperty } from './json-text.ts';
import { isArray, isNumber, isObject, toDouble, typeName, type Value, type ValueObject } from './value.ts';

/** Steps from a value to one inside it: keys, indexes, slices. */
export type Path = readonly Value[];

/** Larger arrays than this are not made by assigning to an index. */
const MAX_ARRAY_LENGTH = 536_870_911;
const MAX_PATH_LENGTH = 10_000;

export function asPath(value: Value): Path {
  if (!isArray(value)) throw new JqError('Path must be specified as an array');
  if (value.length > MAX_PATH_LENGTH) throw new JqError('Path too deep');
  return value;
}

/** The value at a path; null as soon as a step comes upon null. */
export function getPath(value: Value, path: Path): Value {
  let current = value;
  for (const key of path) {
    if (current === null) return null;
    current = valueAt(current, key);
  }
  return current;
}

/** A copy with another value at the path; objects and arrays on the way are made where there is null. */
export function setPath(value: Value, path: Path, replacement: Value, depth = 0): Value {
  const key = path[depth];
  if (key === undefined) return replacement;
  const child = setPath(valueAt(value, key), path, replacement, depth + 1);
  return withValueAt(value, key, child);
}

function withValueAt(target: Value, key: Value, child: Value): Value {
  if (typeof key === 'string' && (target === null || isObject(target)))
    return withProperty(target ?? {}, key, child);
  if (isNumber(key) && (target === null || isArray(target)))
    return withItem(target ?? [], toDouble(key), child);
  if (isObject(key) && (target === null || isArray(target))) return withSlice(target ?? [], key, child);
  if (isObject(key) && typeof target === 'string') throw new JqError('Cannot update string slices');
  if (isArray(key) && isArray(target)) {
    throw new JqError('Cannot update field at array index of array');
  }
  throw cannotIndex(target, key);
}

function withItem(target: readonly Value[], index: number, item: Value): Value {
  if (Number.isNaN(index)) throw new JqError('Cannot set array element at NaN index');
  const whole = Math.floor(index) + (index < 0 ? target.length : 0);
  if (whole < 0) throw new JqError('Out of bounds negative array index');
  if (whole > MAX_ARRAY_LENGTH) throw new JqError('Array index too large');
  const copy = [...target];
  while (copy.length < whole) copy.push(null);
  copy[whole] = item;
  return copy;
}

function withSlice(target: readonly Value[], slice: ValueObject, items: Value): Value {
  if (!isArray(items)) throw new JqError('A slice of an array can only be assigned another array');
  const { start, end } = boundsOf(target.length, slice);
  return target.toSpliced(start, end - start, ...items);
}

/** A copy without what stands at the paths. All of them mean places in the value as it is before. */
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
  let current = value;
  for (let end = paths.length; end > 0; ) {
    const key = paths[end - 1]?.[depth] ?? null;
    let start = end - 1;
    while (start > 0 && isEqual(paths[start - 1]?.[depth] ?? null, key)) start -= 1;
    if (paths[start]?.length === depth + 1) {
      endingKeys.push(key);
    } else {
      const child = valueAt(current, key);
      const rest = paths.slice(start, end);
      if (child !== null) current = withValueAt(current, key, deleteSorted(child, rest, depth + 1));
    }
    end = start;
  }
  return endingKeys.length === 0 ? current : withoutKeys(current, endingKeys);
}

function withoutKeys(target: Value, keys: readonly Value[]): Value {
  if (target === null) return null;
  if (isObject(target)) return withoutProperties(target, keys);
  if (!isArray(target)) throw new JqError(`Cannot delete fields from ${typeName(target)}`);
  const gone = keys.map((key): Bounds => {
    if (isObject(key)) return boundsOf(target.length, key);
    if (!isNumber(key)) throw new JqError(`Cannot delete ${typeName(key)} element of array`);
    const index = Math.trunc(toDouble(key));
    const start = index < 0 ? index + target.length : index;
    return { start, end: start + 1 };
  });
  return target.filter((_, at) => !gone.some(({ start, end }) => start <= at && at < end));
}

function withoutProperties(target: ValueObject, keys: readonly Value[]): Value {
  const names = new Set(
    keys.map((key) => {
      if (typeof key !== 'string') throw new JqError(`Cannot delete ${typeName(key)} field of object`);
      return key;
    }),
  );
  return Object.fromEntries(Object.entries(target).filter(([key]) => !names.has(key)));
}
