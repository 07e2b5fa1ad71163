import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';

const MAPS = ['properties', 'patternProperties', 'definitions'] as const;
const SINGLE = ['items', 'additionalProperties', 'additionalItems', 'not'] as const;
const LISTS = ['items', 'allOf', 'anyOf', 'oneOf'] as const;

/** A keyword with further schemas in its value. */
type SchemaKeyword = (typeof MAPS)[number] | (typeof SINGLE)[number] | (typeof LISTS)[number];

/**
 * The schema with every schema directly inside it replaced by what `visit` makes of it. Data in it, such as `default`
 * and `enum`, are not touched, and neither is anything that is no schema.
 */
export function mapSubSchemas(
  schema: JsonObject,
  visit: (child: JsonObject, keyword: SchemaKeyword) => JsonObject,
): JsonObject {
  const mapped = new Map<string, Json>(Object.entries(schema));
  const replace = (child: Json, keyword: SchemaKeyword): Json =>
    isJsonMap(child) ? visit(child, keyword) : child;
  for (const keyword of MAPS) {
    const children = mapped.get(keyword);
    if (!isJsonMap(children)) continue;
    const pairs = Object.entries(children).map(([name, child]) => [name, replace(child, keyword)] as const);
    mapped.set(keyword, Object.fromEntries(pairs));
  }
  for (const keyword of SINGLE) {
    const child = mapped.get(keyword);
    if (isJsonMap(child)) mapped.set(keyword, visit(child, keyword));
  }
  for (const keyword of LISTS) {
    const children = mapped.get(keyword);
    if (Array.isArray(children))
      mapped.set(
        keyword,
        children.map((child: Json) => replace(child, keyword)),
      );
  }
  return Object.fromEntries(mapped);
}

/** A map inside a schema, such as its `properties`; `{}` when there is none. */
export function mapIn(schema: JsonObject, keyword: string): JsonObject {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return isJsonMap(value) ? value : {};
}
