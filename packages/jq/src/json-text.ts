import { setMember } from '@addon-operator/json/set-member';
import { ExactInteger, getOwn, isArray, isNumber, sortedKeys, type Value } from './value.ts';

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

/** A number as JSON; exponents have two digits, as printf writes them. */
function numberText(value: number | ExactInteger): string {
  if (value instanceof ExactInteger) return value.text;
  if (Number.isNaN(value)) return 'null';
  if (Object.is(value, -0)) return '-0';
  const finite = Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
  return String(finite).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A copy with one property more. */
export function withProperty(object: Readonly<Record<string, Value>>, key: string, value: Value): Value {
  const copy = { ...object };
  setMember(copy, key, value);
  return copy;
}
