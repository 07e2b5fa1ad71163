// Operators between two values, as jq 1.8 defines them for every pair of types. Pure: used by compiled
// expressions, by updating assignments and by the builtins. Integers beyond 2^53 become doubles as soon as
// something is computed.

import { setMember } from '@addon-operator/json/set-member';
import { compare } from './compare.ts';
import { failure, JqError, pairFailure } from './jq-error.ts';
import {
  ExactInteger,
  getOwn,
  isArray,
  isNumber,
  isObject,
  toDouble,
  type Value,
  type ValueObject,
} from './value.ts';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '==' | '!=' | '<' | '<=' | '>' | '>=';

/** The longest string that `"…" * n` makes, in code units; jq reports a similar error. */
const MAX_REPEATED_LENGTH = 100_000_000;

/** Throws JqError where the operator has no meaning. */
export function applyOperator(operator: ArithmeticOperator, left: Value, right: Value): Value {
  switch (operator) {
    case '+':
      return add(left, right);
    case '-':
      return subtract(left, right);
    case '*':
      return multiply(left, right);
    case '/':
      return divide(left, right);
    case '%':
      return remainder(left, right);
    case '==':
      return compare(left, right) === 0;
    case '!=':
      return compare(left, right) !== 0;
    case '<':
      return compare(left, right) < 0;
    case '<=':
      return compare(left, right) <= 0;
    case '>':
      return compare(left, right) > 0;
    case '>=':
      return compare(left, right) >= 0;
  }
}

/**
 * `+`: null is neutral, numbers add, strings and arrays concatenate, objects merge with the right side
 * winning.
 */
export function add(left: Value, right: Value): Value {
  if (left === null) return right;
  if (right === null) return left;
  if (isNumber(left) && isNumber(right)) return toDouble(left) + toDouble(right);
  if (typeof left === 'string' && typeof right === 'string') return left + right;
  if (isArray(left) && isArray(right)) return [...left, ...right];
  if (isObject(left) && isObject(right)) return { ...left, ...right };
  throw pairFailure(left, right, 'cannot be added');
}

/** `-`: numbers, or the items of an array that equal none of the other. */
export function subtract(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return toDouble(left) - toDouble(right);
  if (isArray(left) && isArray(right)) {
    return left.filter((item) => !right.some((other) => compare(item, other) === 0));
  }
  throw pairFailure(left, right, 'cannot be subtracted');
}

/** `*`: numbers, a string repeated, or two objects merged recursively. */
function multiply(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return toDouble(left) * toDouble(right);
  if (typeof left === 'string' && isNumber(right)) return repeated(left, toDouble(right));
  if (isNumber(left) && typeof right === 'string') return repeated(right, toDouble(left));
  if (isObject(left) && isObject(right)) return merged(left, right);
  throw pairFailure(left, right, 'cannot be multiplied');
}

/** A string repeated; zero gives the empty string, a negative count or NaN null. */
function repeated(string: string, times: number): Value {
  if (Number.isNaN(times) || times < 0) return null;
  if (string.length * times > MAX_REPEATED_LENGTH) throw new JqError('Repeat string result too long');
  return string.repeat(Math.floor(times));
}

/** Objects under the same key are merged, everything else is replaced by the right side. */
function merged(left: ValueObject, right: ValueObject): Value {
  const result: Record<string, Value> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const old = getOwn(left, key);
    setMember(result, key, isObject(old) && isObject(value) ? merged(old, value) : value);
  }
  return result;
}

/** `/`: numbers, or a string split at a separator. */
function divide(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) {
    const divisor = toDouble(right);
    if (divisor === 0) throw pairFailure(left, right, 'cannot be divided because the divisor is zero');
    return toDouble(left) / divisor;
  }
  if (typeof left === 'string' && typeof right === 'string') return splitString(left, right);
  throw pairFailure(left, right, 'cannot be divided');
}

/** Pieces between separators. An empty string has none; an empty separator splits into characters. */
export function splitString(string: string, separator: string): Value[] {
  if (string === '') return [];
  return separator === '' ? Array.from(string) : string.split(separator);
}

/** `%` of whole numbers: fractions are cut off, and the sign is that of the dividend. */
function remainder(left: Value, right: Value): Value {
  if (!isNumber(left) || !isNumber(right)) throw pairFailure(left, right, 'cannot be divided (remainder)');
  const [dividend, divisor] = [toDouble(left), toDouble(right)];
  if (Number.isNaN(dividend) || Number.isNaN(divisor)) return Number.NaN;
  const [whole, wholeDivisor] = [asInteger(dividend), asInteger(divisor)];
  if (wholeDivisor === 0n) {
    throw pairFailure(left, right, 'cannot be divided (remainder) because the divisor is zero');
  }
  return Number(whole % wholeDivisor);
}

const MAX_INTEGER = 2n ** 63n - 1n;

/** A double as a 64-bit integer, saturating: jq converts to `intmax_t` in the same way. */
function asInteger(double: number): bigint {
  if (Math.abs(double) < 2 ** 63) return BigInt(Math.trunc(double));
  return double < 0 ? -MAX_INTEGER - 1n : MAX_INTEGER;
}

/** `-value`. A long integer keeps its digits; zero does not become -0. */
export function negate(value: Value): Value {
  if (!isNumber(value)) throw failure(value, 'cannot be negated');
  if (typeof value === 'number') return value === 0 ? 0 : -value;
  return new ExactInteger(value.text.startsWith('-') ? value.text.slice(1) : `-${value.text}`);
}
