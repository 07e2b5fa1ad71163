import { boundsOf, cannotIndex, valueAt } from './access.ts';
import { JqError } from './jq-error.ts';
import { withProperty } from './json-text.ts';
import { isArray, isNumber, isObject, toDouble, type Value, type ValueObject } from './value.ts';

/** Steps from a value to one inside it: keys, indexes, slices. */
export type Path = readonly Value[];

/** Larger arrays than this are not made by assigning to an index. */
const MAX_ARRAY_LENGTH = 536_870_911;
/** `setPath` calls itself once per step. */
const MAX_PATH_LENGTH = 10_000;

/** Checks that a value of the program is a path. Throws JqError. */
export function asPath(value: Value): Path {
  if (!isArray(value)) throw new JqError('Path must be specified as an array');
  if (value.length > MAX_PATH_LENGTH) throw new JqError('Path too deep');
  return value;
}

/** The value at a path. Below null everything is null, but a step that no value has is an error there too. */
export function getPath(value: Value, path: Path): Value {
  return path.reduce(valueAt, value);
}

/** A copy with another value at the path; objects and arrays on the way are made where there is null. */
export function setPath(value: Value, path: Path, replacement: Value, depth = 0): Value {
  const key = path[depth];
  if (key === undefined) return replacement;
  const child = setPath(valueAt(value, key), path, replacement, depth + 1);
  return withValueAt(value, key, child);
}

/** A copy with another value at one step. */
export function withValueAt(target: Value, key: Value, child: Value): Value {
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

/** A copy of an array with one item replaced; a gap before it is filled with null. */
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

/** A copy of an array with a slice replaced by other items, which may be more or fewer. */
function withSlice(target: readonly Value[], slice: ValueObject, items: Value): Value {
  const { start, end } = boundsOf(target.length, slice);
  if (!isArray(items)) throw new JqError('A slice of an array can only be assigned another array');
  return target.toSpliced(start, end - start, ...items);
}
