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
  // Without a type null is allowed anyway.
  if (draft.get('nullable') !== true || !draft.has('type')) draft.delete('nullable');
  return mapSubSchemas(Object.fromEntries(draft), toJsonSchema);
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
