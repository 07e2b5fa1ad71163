import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, stringAt, valueAt } from './json-access.ts';
import type { FieldRule, Structure } from './structures.ts';

/** Field name in a structure for every field that is not listed. */
export const ANY_FIELD = '*';

/** Merge rules that the OpenAPI schema of a custom resource declares, as structures below the type `rootType`. */
export function schemaStructures(rootType: string, schema: Fields): Readonly<Record<string, Structure>> {
  const structures: Record<string, Structure> = {
    ObjectMeta: { finalizers: { set: true }, ownerReferences: { keys: ['uid'] } },
  };
  collect(rootType, schema, structures);
  return structures;
}

/** Adds the structure of an object schema; false when it says nothing beyond the defaults. */
function collect(name: string, schema: Fields, structures: Record<string, Structure>): boolean {
  const rules: Record<string, FieldRule> = {};
  for (const [field, property] of Object.entries(fieldsAt(schema, 'properties'))) {
    const rule = fieldRule(`${name}.${field}`, property, structures);
    if (rule !== undefined) rules[field] = rule;
  }
  const values = valueAt(schema, 'additionalProperties');
  const valueRule = isObject(values) ? fieldRule(`${name}.${ANY_FIELD}`, values, structures) : undefined;
  if (valueRule !== undefined) rules[ANY_FIELD] = valueRule;
  if (Object.keys(rules).length === 0) return false;
  structures[name] = rules;
  return true;
}

function fieldRule(
  name: string,
  schema: unknown,
  structures: Record<string, Structure>,
): FieldRule | undefined {
  const property = fieldsAt(schema);
  if (stringAt(property, 'x-kubernetes-map-type') === 'atomic') return { atomic: true };
  switch (stringAt(property, 'x-kubernetes-list-type')) {
    case 'set':
      return { set: true };
    case 'map': {
      const keys = listAt(property, 'x-kubernetes-list-map-keys').filter((key) => typeof key === 'string');
      return collect(name, fieldsAt(property, 'items'), structures) ? { keys, type: name } : { keys };
    }
    default:
      if (stringAt(property, 'type') === 'array') return undefined;
      return collect(name, property, structures) ? { type: name } : undefined;
  }
}
