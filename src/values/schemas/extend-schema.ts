import type { Json, JsonObject } from '../../lib/json.ts';
import { mapIn } from './sub-schemas.ts';

const MERGED_MAPS = ['definitions', 'properties', 'patternProperties'] as const;
const MERGED_TEXTS = ['title', 'description'] as const;

/**
 * The schema of values with the schema of config values merged in, where `x-extend` asks for it: properties,
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
  for (const key of MERGED_TEXTS) {
    const inherited = configSchema[key];
    if (inherited !== undefined && (extended.get(key) ?? '') === '') extended.set(key, inherited);
  }
  return Object.fromEntries(extended);
}

/** The texts of a list, or one text that stands for a list of one. */
export function textsIn(value: Json | undefined): readonly string[] {
  const items: readonly Json[] = Array.isArray(value) ? value : [value ?? null];
  return items.filter((item) => typeof item === 'string');
}
