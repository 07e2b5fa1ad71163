import { OperatorError } from '@addon-operator/base/errors';
import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { parsePointer } from '@addon-operator/json/pointer';
import { mapIn, mapSubSchemas } from './sub-schemas.ts';

const MERGED_MAPS = ['definitions', 'properties', 'patternProperties'] as const;
const MERGED_STRINGS = ['title', 'description'] as const;

/**
 * The schema of values with the schema of config values merged in, if `x-extend` is set: properties,
 * patternProperties, definitions, extensions and texts, own ones win; what either requires is required.
 */
export function extendSchema(schema: JsonObject, configSchema: JsonObject | undefined): JsonObject {
  if (!Object.hasOwn(schema, 'x-extend') || configSchema === undefined) return schema;
  const extended = new Map<string, Json>(Object.entries(schema));
  for (const [key, value] of Object.entries(configSchema)) {
    if (key.startsWith('x-') && !extended.has(key)) extended.set(key, value);
  }
  for (const key of MERGED_MAPS) {
    const merged = new Map([
      ...Object.entries(mapIn(configSchema, key)),
      ...Object.entries(mapIn(schema, key)),
    ]);
    if (merged.size > 0) extended.set(key, Object.fromEntries(merged));
  }
  const required = [...new Set([...textsIn(schema['required']), ...textsIn(configSchema['required'])])];
  if (required.length > 0) extended.set('required', required);
  for (const key of MERGED_STRINGS) {
    const inherited = configSchema[key];
    if (inherited !== undefined && (extended.get(key) ?? '') === '') extended.set(key, inherited);
  }
  return Object.fromEntries(extended);
}

/** The strings of a list; a single string counts as a list of one. */
function textsIn(value: Json | undefined): readonly string[] {
  const items: readonly Json[] = Array.isArray(value) ? value : [value ?? null];
  return items.filter((item) => typeof item === 'string');
}

/** The schema of values before helm: `x-required-for-helm` counts as `required`, at the root and in properties. */
export function requiredForHelm(schema: JsonObject): JsonObject {
  const properties = Object.entries(mapIn(schema, 'properties')).map(
    ([name, child]): readonly [string, Json] => [name, isJsonMap(child) ? requiredForHelm(child) : child],
  );
  const required = [...new Set([...textsIn(schema['required']), ...textsIn(schema['x-required-for-helm'])])];
  return {
    ...schema,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

const ADDITIONAL = 'additionalProperties';

/**
 * Forbids properties that are not listed, wherever a schema does not say itself whether it allows them: at the root, in
 * its properties and in the items of lists. What is below a property that does say so is kept.
 */
export function closeObjects(schema: JsonObject): JsonObject {
  const closed = Object.hasOwn(schema, ADDITIONAL) ? schema : { ...schema, [ADDITIONAL]: false };
  return mapSubSchemas(closed, (child, keyword) => {
    switch (keyword) {
      case 'properties':
        return Object.hasOwn(child, ADDITIONAL) || isReference(child) ? child : closeObjects(child);
      case 'items':
        return isReference(child) ? child : closeObjects(child);
      case 'patternProperties':
      case 'definitions':
      case 'additionalProperties':
      case 'additionalItems':
      case 'not':
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return child;
    }
  });
}

/** A schema that contains itself: keywords next to the reference are ignored. */
function isReference(schema: JsonObject): boolean {
  return typeof schema['$ref'] === 'string';
}

/** References can multiply: ten in each of ten definitions are ten billion places. */
const MAX_EXPANSIONS = 1_000;

/**
 * Puts the target of each local `$ref` in its place, so that later steps see the target. A reference inside its
 * own target stays as it is, and so do those in `definitions`.
 *
 * @throws OperatorError VALUES_INVALID for a reference that leads nowhere or out of the file, and for more than 1000
 */
export function expandReferences(schema: JsonObject): JsonObject {
  let expansions = 0;
  const expand = (part: JsonObject, open: readonly string[]): JsonObject => {
    const reference = part['$ref'];
    if (typeof reference !== 'string') {
      return mapSubSchemas(part, (child, keyword) =>
        keyword === 'definitions' ? child : expand(child, open),
      );
    }
    if (open.includes(reference)) return { $ref: reference };
    expansions += 1;
    if (expansions > MAX_EXPANSIONS)
      throw new OperatorError(
        'VALUES_INVALID',
        `more than ${MAX_EXPANSIONS} places refer to a schema with $ref`,
      );
    return expand(targetOf(reference, schema), [...open, reference]);
  };
  return expand(schema, []);
}

/** The schema that a reference points to. Throws VALUES_INVALID. */
function targetOf(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith('#'))
    throw new OperatorError(
      'VALUES_INVALID',
      `$ref "${reference}" points outside of the file: use #/definitions/…`,
    );
  const segments = reference === '#' ? [] : parsePointer(reference.slice(1));
  const childOf = (parent: Json | undefined, segment: string): Json | undefined =>
    isJsonMap(parent) && Object.hasOwn(parent, segment) ? parent[segment] : undefined;
  const target = segments?.reduce<Json | undefined>(childOf, root);
  if (isJsonMap(target)) return target;
  throw new OperatorError('VALUES_INVALID', `$ref "${reference}" does not point to a schema`);
}
