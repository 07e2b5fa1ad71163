import { isObject, type Json } from '@addon-operator/json';
import { unescapeSegment } from '@addon-operator/json/pointer';
import { didYouMean } from '@addon-operator/json/similar-word';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import type { ErrorObject } from 'ajv';

const MAX_PATH_CHARACTERS = 400;

/**
 * One way in which values break a schema, in words: the dotted path, without positions in lists, and what is expected.
 * Of the value itself only the type is shown.
 *
 * @param key what the path begins with
 * @param value the root that was checked
 */
export function valueProblem(error: ErrorObject, key: string, value: unknown): string {
  const path = cutMiddle([key, ...pathOf(error.instancePath, value)].join('.'), MAX_PATH_CHARACTERS);
  const params: Record<string, unknown> = error.params;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'required':
      return `${path}.${String(params['missingProperty'])} in body is required`;
    case 'additionalProperties': {
      const property = String(params['additionalProperty']);
      return `${path}.${property} in body is a forbidden property${didYouMean(property, knownKeys(error))}`;
    }
    case 'type':
      return `${path} in body must be of type ${typesOf(params['type'])}: "${typeName(error.data)}"`;
    case 'enum':
      return `${path} in body should be one of [${allowed(params['allowedValues'])}]`;
    case 'pattern':
      return `${path} in body should match '${String(params['pattern'])}'`;
    case 'format':
      return `${path} in body must be of type ${String(params['format'])}: "${typeName(error.data)}"`;
    case 'maximum':
      return `${path} in body should be less than or equal to ${limit}`;
    case 'exclusiveMaximum':
      return `${path} in body should be less than ${limit}`;
    case 'minimum':
      return `${path} in body should be greater than or equal to ${limit}`;
    case 'exclusiveMinimum':
      return `${path} in body should be greater than ${limit}`;
    case 'multipleOf':
      return `${path} in body should be a multiple of ${String(params['multipleOf'])}`;
    case 'minLength':
      return `${path} in body should be at least ${limit} chars long`;
    case 'maxLength':
      return `${path} in body should be at most ${limit} chars long`;
    case 'minItems':
      return `${path} in body should have at least ${limit} items`;
    case 'maxItems':
      return `${path} in body should have at most ${limit} items`;
    case 'uniqueItems':
      return `${path} in body shouldn't contain duplicates`;
    case 'minProperties':
      return `${path} in body should have at least ${limit} properties`;
    case 'maxProperties':
      return `${path} in body should have at most ${limit} properties`;
    case 'anyOf':
      return `"${path}" must validate at least one schema (anyOf)`;
    case 'oneOf':
      return `"${path}" must validate one and only one schema (oneOf)`;
    case 'not':
      return `"${path}" must not validate the schema (not)`;
    default:
      return `${path} in body ${error.message ?? error.keyword}`;
  }
}

/** Several problems as one list, in the form that go-multierror prints. */
export function problemList(problems: readonly string[]): string {
  const head = problems.length === 1 ? '1 error occurred:' : `${problems.length} errors occurred:`;
  return [head, ...problems.map((problem) => `\t* ${problem}`)].join('\n');
}

/** The segments of a pointer that are keys of maps. */
function pathOf(pointer: string, root: unknown): string[] {
  const path: string[] = [];
  let value = root;
  for (const segment of pointer.split('/').slice(1).map(unescapeSegment)) {
    if (Array.isArray(value)) {
      value = value[Number(segment)];
    } else {
      path.push(segment);
      const map = value as Readonly<Record<string, unknown>>;
      value = Object.hasOwn(map, segment) ? map[segment] : undefined;
    }
  }
  return path;
}

function typesOf(types: unknown): string {
  return Array.isArray(types) ? types.join(',') : String(types);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** The listed values, separated by spaces as Go prints a slice. */
function allowed(values: unknown): string {
  if (!Array.isArray(values)) return '';
  return values.map((value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ');
}

/** Candidates for "did you mean". */
function knownKeys({ parentSchema }: ErrorObject): readonly string[] {
  const properties = parentSchema?.['properties'];
  return isObject(properties) ? Object.keys(properties) : [];
}
