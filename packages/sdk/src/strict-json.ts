import { isRawJson } from '@addon-operator/json';

const MAX_CHARACTERS = 10 * 1024 * 1024;

/**
 * The JSON text of a value, undefined for undefined. `JSON.stringify` leaves out or changes what it cannot express; here
 * only properties that are undefined are left out.
 *
 * @param what what the value is, for the message
 * @throws TypeError that names the place of what is no JSON; RangeError when the text is longer than 10 million characters
 */
export function strictJson(what: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  check(value, [], new Set(), what);
  const text = JSON.stringify(value);
  if (text.length > MAX_CHARACTERS)
    throw new RangeError(`${what} has ${text.length} characters, more than the limit of ${MAX_CHARACTERS}`);
  return text;
}

type Path = readonly (string | number)[];

function check(value: unknown, path: Path, around: Set<object>, what: string): void {
  const found = foundInstead(value, around);
  if (found !== undefined) throw new TypeError(`${what} is not JSON: ${placeOf(path)}${found}`);
  if (typeof value !== 'object' || value === null || isRawJson(value) || 'toJSON' in value) return;
  around.add(value);
  if (Array.isArray(value))
    for (const [index, inner] of value.entries()) check(inner, [...path, index], around, what);
  else {
    for (const [key, inner] of Object.entries(value))
      if (inner !== undefined) check(inner, [...path, key], around, what);
  }
  around.delete(value);
}

function placeOf(path: Path): string {
  if (path.length === 0) return 'it is ';
  return `${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')} is `;
}

/** The value that is not JSON; undefined if all of it is. */
function foundInstead(value: unknown, around: ReadonlySet<object>): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'bigint':
      return 'a bigint';
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'string':
    case 'boolean':
      return undefined;
    case 'object':
      return value === null || isRawJson(value) ? undefined : foundObject(value, around);
  }
}

function foundObject(value: object, around: ReadonlySet<object>): string | undefined {
  if (around.has(value)) return 'an object that contains it (a cycle)';
  if (Array.isArray(value) || ('toJSON' in value && typeof value.toJSON === 'function')) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  return `an instance of ${value.constructor.name}${value instanceof Promise ? ' (await it)' : ''}`;
}
