import { canonicalJson, fieldsOf, isObject, stringOf, valueAtPath } from '@addon-operator/json';

export type Fields = Readonly<Record<string, unknown>>;

export { valueAtPath as valueAt };

/** The object at `path`, an empty one where there is none. */
export function fieldsAt(value: unknown, ...path: readonly (string | number)[]): Fields {
  const found = valueAtPath(value, ...path);
  return fieldsOf(found);
}

/** The list at `path`, an empty one where there is none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAtPath(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The string at `path`, an empty one where there is none. */
export function stringAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = valueAtPath(value, ...path);
  return stringOf(found);
}

/** The number at `path`, or undefined. */
export function numberAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = valueAtPath(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** A string, number or boolean as text; an empty text for anything else. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

/** The string values of the object at `path`; others are left out. */
export function stringsAt(
  value: unknown,
  ...path: readonly (string | number)[]
): Readonly<Record<string, string>> {
  // Without a prototype: keys such as `constructor` come from users, and are looked up in it.
  const strings: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(fieldsAt(value, ...path))) {
    if (typeof text === 'string') strings[key] = text;
  }
  return strings;
}

/** A copy of `fields` without the named ones. */
export function withoutFields(fields: Fields, ...names: readonly string[]): Record<string, unknown> {
  const rest = { ...fields };
  for (const name of names) delete rest[name];
  return rest;
}

/** Whether two JSON values are equal, with their keys in any order. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equalJson(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return canonicalJson(left) === canonicalJson(right);
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]));
}
