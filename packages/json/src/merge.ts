import { isObject, type Json, type JsonObject } from './json.ts';

/**
 * Merges layers of values, later ones win: maps are merged key by key, everything else (lists, scalars, null) replaces
 * what was there as a whole. The inputs stay as they are; parts of them may be shared by the result.
 */
export function mergeValues(...layers: readonly JsonObject[]): JsonObject {
  return layers.reduce(mergeMaps, {});
}

function mergeMaps(base: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const present = merged.get(key);
    merged.set(key, isJsonMap(present) && isJsonMap(value) ? mergeMaps(present, value) : value);
  }
  // Defines own properties, so a key such as `__proto__` stays plain data.
  return Object.fromEntries(merged);
}

/** Whether a JSON value is a map. */
export function isJsonMap(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
