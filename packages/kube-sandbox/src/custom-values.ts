import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, valueAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';

/** A custom resource with the defaults that its schema declares; without schema the object itself. */
export function applySchemaDefaults(object: ResourceObject, schema: Fields | undefined): ResourceObject {
  if (schema === undefined) return object;
  const completed = withSchemaDefaults(object, schema);
  if (!isObject(completed)) return object;
  return { ...completed, kind: object.kind, apiVersion: object.apiVersion, metadata: object.metadata };
}

function withSchemaDefaults(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value)) {
    const items = valueAt(schema, 'items');
    return isObject(items) ? value.map((item) => withSchemaDefaults(item, items)) : value;
  }
  if (!isObject(value)) return value;
  const properties = fieldsAt(schema, 'properties');
  const values = valueAt(schema, 'additionalProperties');
  const completed: Record<string, unknown> = {};
  for (const [field, content] of Object.entries(value)) {
    const property = Object.hasOwn(properties, field) ? properties[field] : values;
    completed[field] = isObject(property) ? withSchemaDefaults(content, property) : content;
  }
  for (const [field, property] of Object.entries(properties)) {
    const preset = valueAt(property, 'default');
    if (completed[field] === undefined && preset !== undefined)
      completed[field] = withSchemaDefaults(preset, property);
  }
  return completed;
}

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
