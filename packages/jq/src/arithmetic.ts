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

/** Longer texts are not made by repeating one. */
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

export function add(left: Value, right: Value): Value {
  if (left === null) return right;
  if (right === null) return left;
  if (isNumber(left) && isNumber(right)) return toDouble(left) + toDouble(right);
  if (typeof left === 'string' && typeof right === 'string') return left + right;
  if (isArray(left) && isArray(right)) return [...left, ...right];
  if (isObject(left) && isObject(right)) return { ...left, ...right };
  throw pairFailure(left, right, 'cannot be added');
}

export function subtract(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return toDouble(left) - toDouble(right);
  if (isArray(left) && isArray(right)) {
    return left.filter((item) => !right.some((other) => compare(item, other) === 0));
  }
  throw pairFailure(left, right, 'cannot be subtracted');
}

function multiply(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return toDouble(left) * toDouble(right);
  if (typeof left === 'string' && isNumber(right)) return repeated(left, toDouble(right));
  if (isNumber(left) && typeof right === 'string') return repeated(right, toDouble(left));
  if (isObject(left) && isObject(right)) return merged(left, right);
  throw pairFailure(left, right, 'cannot be multiplied');
}

function repeated(text: string, times: number): Value {
  if (Number.isNaN(times) || times < 0) return null;
  if (text.length * times > MAX_REPEATED_LENGTH) throw new JqError('Repeat string result too long');
  return text.repeat(Math.floor(times));
}

function merged(left: ValueObject, right: ValueObject): Value {
  const result: Record<string, Value> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const old = getOwn(left, key);
    setMember(result, key, isObject(old) && isObject(value) ? merged(old, value) : value);
  }
  return result;
}

function divide(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) {
    const divisor = toDouble(right);
    if (divisor === 0) throw pairFailure(left, right, 'cannot be divided because the divisor is zero');
    return toDouble(left) / divisor;
  }
  if (typeof left === 'string' && typeof right === 'string') return splitText(left, right);
  throw pairFailure(left, right, 'cannot be divided');
}

export function splitText(text: string, separator: string): Value[] {
  if (text === '') return [];
  return separator === '' ? Array.from(text) : text.split(separator);
}

/** Of whole numbers: fractions are cut off. */
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

/** As a 64-bit integer; what is larger becomes the largest. */
function asInteger(double: number): bigint {
  if (Math.abs(double) < 2 ** 63) return BigInt(Math.trunc(double));
  return double < 0 ? -MAX_INTEGER - 1n : MAX_INTEGER;
}

export function negate(value: Value): Value {
  if (!isNumber(value)) throw failure(value, 'cannot be negated');
  if (typeof value === 'number') return value === 0 ? 0 : -value;
  return new ExactInteger(value.text.startsWith('-') ? value.text.slice(1) : `-${value.text}`);
}
