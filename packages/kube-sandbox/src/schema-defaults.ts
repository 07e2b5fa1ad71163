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
