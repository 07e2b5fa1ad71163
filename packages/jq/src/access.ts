import { isEqual } from './compare.ts';
import { described, JqError } from './jq-error.ts';
import { getOwn, isArray, isNumber, isObject, sortedKeys, toDouble, typeName, type Value } from './value.ts';

/** `.[key]`, where a slice is an object with `start` and `end`. */
export function valueAt(target: Value, key: Value): Value {
  if (isObject(target) && typeof key === 'string') return getOwn(target, key);
  if (isArray(target)) {
    if (isNumber(key)) return itemAt(target, toDouble(key));
    if (isObject(key)) return sliceOf(target, key);
    if (isArray(key)) return indexesOf(target, key);
  }
  if (typeof target === 'string' && isObject(key)) return sliceOf(target, key);
  if (target === null && (typeof key === 'string' || isNumber(key) || isObject(key))) return null;
  throw cannotIndex(target, key);
}

/** The error for a step that a type does not have. */
export function cannotIndex(target: Value, key: Value): JqError {
  return new JqError(`Cannot index ${typeName(target)} with ${described(key)}`);
}

/** A negative index counts from the end; a fraction is rounded down; out of range gives null. */
function itemAt(target: readonly Value[], index: number): Value {
  if (Number.isNaN(index)) return null;
  const whole = Math.floor(index);
  return target[whole < 0 ? whole + target.length : whole] ?? null;
}

/** `.[]`. Throws JqError for anything but an array or object. */
export function itemsOf(target: Value): readonly Value[] {
  if (isArray(target)) return target;
  if (isObject(target)) return sortedKeys(target).map((key) => getOwn(target, key));
  throw new JqError(`Cannot iterate over ${described(target)}`);
}

/** A range of an array or string: `end` is exclusive, both are within its length. */
export interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** First and behind-last index that a slice of something of this length means. */
export function boundsOf(length: number, slice: Readonly<Record<string, Value>>): Bounds {
  const bound = (key: string, whenOpen: number): number => {
    const value = getOwn(slice, key);
    if (value === null && Object.hasOwn(slice, key)) return whenOpen;
    if (!isNumber(value)) throw new JqError('Array/string slice indices must be integers');
    const double = toDouble(value);
    return Number.isNaN(double) ? whenOpen : double < 0 ? double + length : double;
  };
  const start = clamp(Math.floor(bound('start', 0)), length);
  const end = clamp(Math.ceil(bound('end', length)), length);
  return { start, end: Math.max(start, end) };
}

/** Into 0 … length. */
function clamp(index: number, length: number): number {
  return Math.min(Math.max(index, 0), length);
}

/** A slice of a string counts characters, as every position in jq does. */
function sliceOf(target: string | readonly Value[], slice: Readonly<Record<string, Value>>): Value {
  if (typeof target !== 'string') {
    const { start, end } = boundsOf(target.length, slice);
    return target.slice(start, end);
  }
  const characters = Array.from(target);
  const { start, end } = boundsOf(characters.length, slice);
  return characters.slice(start, end).join('');
}

/** The indexes at which a sequence begins in an array; none for an empty sequence. */
export function indexesOf(target: readonly Value[], sequence: readonly Value[]): Value[] {
  if (sequence.length === 0) return [];
  const found: Value[] = [];
  for (let at = 0; at + sequence.length <= target.length; at += 1) {
    if (sequence.every((item, offset) => isEqual(target[at + offset] ?? null, item))) found.push(at);
  }
  return found;
}

/** The positions of one string in another, in characters, overlapping ones included; none for an empty string. */
export function positionsOf(string: string, part: string): Value[] {
  if (part === '') return [];
  const found: Value[] = [];
  let [position, counted] = [0, 0];
  for (let at = string.indexOf(part); at !== -1; at = string.indexOf(part, at + 1)) {
    // Counts from the previous match, so that many matches in a long string take linear time.
    position += Array.from(string.slice(counted, at)).length;
    counted = at;
    found.push(position);
  }
  return found;
}
