import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt } from './json-access.ts';

export interface Pruned {
  readonly value: Fields;
  /** Paths of the fields that the schema does not have. */
  readonly unknown: readonly string[];
}

/**
 * A custom resource, apart from its type and metadata, without the fields that its structural schema does not have, and
 * without nulls that the schema does not allow.
 */
export function prune(fields: Fields, schema: Fields): Pruned {
  const unknown: string[] = [];
  const value = pruneObject(fields, schema, '', unknown);
  return { value, unknown };
}

function pruneObject(fields: Fields, schema: Fields, path: string, unknown: string[]): Fields {
  const properties = fieldsAt(schema, 'properties');
  const additional = schema['additionalProperties'];
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true || additional === true;
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const fieldPath = path === '' ? field : `${path}.${field}`;
    const property = properties[field] ?? (isObject(additional) ? additional : undefined);
    if (value === null && isObject(property) && property['nullable'] !== true) continue;
    if (isObject(property)) kept[field] = pruneValue(value, property, fieldPath, unknown);
    else if (keepsAll || isTypeField(field, schema)) kept[field] = value;
    else unknown.push(fieldPath);
  }
  return kept;
}

/** An embedded resource has the fields of its type without naming them. */
function isTypeField(field: string, schema: Fields): boolean {
  if (schema['x-kubernetes-embedded-resource'] !== true) return false;
  return field === 'apiVersion' || field === 'kind' || field === 'metadata';
}

function pruneValue(value: unknown, schema: Fields, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const items = fieldsAt(schema, 'items');
    return value.map((item, index) => pruneValue(item, items, `${path}[${index}]`, unknown));
  }
  return isObject(value) ? pruneObject(value, schema, path, unknown) : value;
}
