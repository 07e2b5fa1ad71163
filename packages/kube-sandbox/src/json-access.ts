import { fieldsOf, isRawJson, stringOf, valueAtPath } from '@addon-operator/json';

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
export function scalarString(value: unknown): string {
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

/** Whether two JSON values of any depth are equal, with their keys in any order. */
export function equalJson(left: unknown, right: unknown): boolean {
  const pairs: (readonly [unknown, unknown])[] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair;
    if (one === other) continue;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (isRawJson(one) || isRawJson(other)) {
      if (JSON.stringify(one) !== JSON.stringify(other)) return false;
      continue;
    }
    const keys = Object.keys(one);
    if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length)
      return false;
    const [ofOne, ofOther] = [one as Fields, other as Fields];
    for (const key of keys) {
      if (!Object.hasOwn(ofOther, key)) return false;
      pairs.push([ofOne[key], ofOther[key]]);
    }
  }
  return true;
}
