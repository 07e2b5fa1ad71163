import type { Json, JsonObject } from '../../lib/json.ts';
import { mapSubSchemas } from './sub-schemas.ts';

/** Keywords that constrain values. Everything else (texts, examples, defaults, extensions) says nothing about them. */
const KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'definitions',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'not',
  'nullable',
  'oneOf',
  'pattern',
  'patternProperties',
  'properties',
  'required',
  'type',
  'uniqueItems',
]);

/** The OpenAPI schema in the words of JSON schema draft 7, where exclusive limits are numbers. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => KEYWORDS.has(key));
  const draft = new Map<string, Json>(kept);
  turnExclusive(draft, 'minimum', 'exclusiveMinimum');
  turnExclusive(draft, 'maximum', 'exclusiveMaximum');
  const hasType = draft.has('type');
  const takesNull = !hasType || draft.get('nullable') === true;
  // Without a type null is allowed anyway.
  if (!takesNull || !hasType) draft.delete('nullable');
  const mapped = mapSubSchemas(Object.fromEntries(draft), toJsonSchema);
  return takesNull ? sparingNull(mapped) : mapped;
}

const COMBINATIONS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'not', 'oneOf']);

/** Null is judged by type and enum alone in OpenAPI's validator: `nullable` beside `anyOf` allows it. */
function sparingNull(schema: JsonObject): JsonObject {
  const combinations = Object.entries(schema).filter(([key]) => COMBINATIONS.has(key));
  if (combinations.length === 0) return schema;
  const others = Object.entries(schema).filter(([key]) => !COMBINATIONS.has(key));
  return { ...Object.fromEntries(others), if: { type: 'null' }, else: Object.fromEntries(combinations) };
}

function turnExclusive(draft: Map<string, Json>, limit: string, exclusive: string): void {
  const isExclusive = draft.get(exclusive);
  if (typeof isExclusive !== 'boolean') return;
  draft.delete(exclusive);
  const bound = draft.get(limit);
  if (!isExclusive || bound === undefined) return;
  draft.set(exclusive, bound);
  draft.delete(limit);
}
