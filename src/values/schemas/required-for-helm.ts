import type { Json, JsonObject } from '../../lib/json.ts';
import { isJsonMap } from '../merge.ts';
import { textsIn } from './extend-schema.ts';
import { mapIn } from './sub-schemas.ts';

/** What values must have before helm: `x-required-for-helm` counts as `required`, at the root and in properties. */
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
