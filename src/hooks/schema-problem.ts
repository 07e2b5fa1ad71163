import type { ErrorObject } from 'ajv';
import { isObject } from '../lib/json.ts';
import { didYouMean } from '../lib/similar-word.ts';

/** One schema error in words: the dotted path (list positions left out), the problem, what is allowed. */
export function schemaProblem(error: ErrorObject): string {
  const path = error.instancePath
    .split('/')
    .filter((part) => part !== '' && !/^\d+$/.test(part))
    .join('.');
  const params: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case 'additionalProperties': {
      const property = String(params['additionalProperty']);
      const known = error.parentSchema?.['properties'];
      const keys = isObject(known) ? Object.keys(known) : [];
      const allowed = keys.length === 0 ? '' : `; allowed: ${keys.join(', ')}`;
      return `${path}.${property} is a forbidden property${didYouMean(property, keys)}${allowed}`;
    }
    case 'required':
    case 'dependencies':
      return `${path === '' ? '' : `${path}.`}${String(params['missingProperty'])} is required`;
    case 'type':
      return `${path} must be of type ${String(params['type'])}: "${typeName(error.data)}"`;
    case 'enum':
      return `${path} should be one of [${(error.schema as readonly string[]).join(' ')}]`;
    case 'minItems':
      return `${path} should have at least ${String(params['limit'])} items`;
    case 'minProperties':
      return `${path === '' ? 'config' : path} should have at least ${String(params['limit'])} properties`;
    default:
      return `${path} ${error.message ?? error.keyword}`;
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
