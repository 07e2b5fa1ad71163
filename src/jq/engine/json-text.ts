import { ExactInteger, getOwn, isArray, isNumber, setOwn, sortedKeys, type Value } from './value.ts';

/** Only numbers of so many digits can need an {@link ExactInteger}. */
const LONG_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

/** Compact JSON text with sorted keys. NaN becomes null, the infinities the largest doubles. */
export function toJson(value: Value): string {
  if (typeof value === 'string') return stringText(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (isNumber(value)) return numberText(value);
  if (isArray(value)) return `[${value.map(toJson).join(',')}]`;
  const entries = sortedKeys(value).map((key) => `${stringText(key)}:${toJson(getOwn(value, key))}`);
  return `{${entries.join(',')}}`;
}

/** jq escapes the delete character too. */
function stringText(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

function numberText(value: number | ExactInteger): string {
  if (value instanceof ExactInteger) return value.text;
  if (Number.isNaN(value)) return 'null';
  if (Object.is(value, -0)) return '-0';
  const finite = Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
  return String(finite).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Parses JSON text. Throws SyntaxError. */
export function parseValue(text: string): Value {
  // JSON.parse without a reviver is several times as fast.
  return JSON.parse(text, LONG_DIGITS.test(text) ? keepInteger : undefined) as Value;
}

function keepInteger(_key: string, value: Value, context?: { readonly source?: string }): Value {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return numberOf(source);
}

/** The number that a literal means. */
export function numberOf(literal: string): number | ExactInteger {
  const double = Number(literal);
  const isExact = !INTEGER.test(literal) || Number.isSafeInteger(double) || exactText(double) === literal;
  return isExact ? double : new ExactInteger(literal);
}

function exactText(double: number): string {
  return Number.isFinite(double) ? String(double) : '';
}

/** A copy with one property more. */
export function withProperty(object: Readonly<Record<string, Value>>, key: string, value: Value): Value {
  const copy = { ...object };
  setOwn(copy, key, value);
  return copy;
}
