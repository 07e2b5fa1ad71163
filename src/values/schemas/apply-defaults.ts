import type { Json, JsonObject } from '../../lib/json.ts';
import { isJsonMap } from '../merge.ts';
import { mapIn } from './sub-schemas.ts';

/**
 * The map with defaults of the schema put where a property is missing; what is there, null too, stays. Then the same in
 * the maps and lists it has. The default of a property in a map that is missing itself counts only when that map has a
 * default.
 */
export function applyDefaults(schema: JsonObject, value: JsonObject): JsonObject {
  const filled = new Map<string, Json>(Object.entries(value));
  for (const [name, child] of Object.entries(mapIn(schema, 'properties'))) {
    if (!isJsonMap(child)) continue;
    const present = filled.get(name) ?? (filled.has(name) ? null : child['default']);
    if (present !== undefined) filled.set(name, defaultsWithin(child, present));
  }
  // Defines own properties, so a key such as `__proto__` stays plain data.
  return Object.fromEntries(filled);
}

function defaultsWithin(schema: JsonObject, value: Json): Json {
  if (isJsonMap(value)) return applyDefaults(schema, value);
  const items = schema['items'];
  if (!Array.isArray(value) || !isJsonMap(items)) return value;
  return value.map((item: Json) => defaultsWithin(items, item));
}
