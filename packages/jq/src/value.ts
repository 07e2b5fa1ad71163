/** A value of a jq program: JSON, with integers beyond 2^53 kept as they were written. */
export type Value = null | boolean | number | string | ExactInteger | readonly Value[] | ValueObject;

export interface ValueObject {
  readonly [key: string]: Value;
}

/** An integer that a double cannot hold. Arithmetic converts it to a double, everything else keeps its digits. */
export class ExactInteger {
  readonly text: string;
  readonly #double: number;

  constructor(text: string) {
    this.text = text;
    this.#double = Number(text);
  }

  get double(): number {
    return this.#double;
  }
}

/** As the builtin `type` names them. */
export type TypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function isArray(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isNumber(value: Value): value is number | ExactInteger {
  return typeof value === 'number' || value instanceof ExactInteger;
}

export function isObject(value: Value): value is ValueObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactInteger)
  );
}

export function typeName(value: Value): TypeName {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  if (isNumber(value)) return 'number';
  return isArray(value) ? 'array' : 'object';
}

/** Everything but null and false. */
export function isTruthy(value: Value): boolean {
  return value !== null && value !== false;
}

/** The nearest double of any number. */
export function toDouble(value: number | ExactInteger): number {
  return typeof value === 'number' ? value : value.double;
}

/** A property of the object itself, null if there is none: `__proto__` and `toString` are ordinary keys. */
export function getOwn(target: ValueObject, key: string): Value {
  return Object.hasOwn(target, key) ? (target[key] ?? null) : null;
}

/** By code points, as strings are ordered in jq; code units would order characters beyond U+FFFF otherwise. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other)
      return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
}

/** Half of a character beyond U+FFFF. */
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** The keys in the order in which jq programs meet them. */
export function sortedKeys(object: ValueObject): string[] {
  return Object.keys(object).sort(compareText);
}
