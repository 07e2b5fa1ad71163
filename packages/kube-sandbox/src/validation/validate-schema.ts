import { isObject, isRawJson } from '@addon-operator/json';
import { equalJson, type Fields, fieldsAt, listAt, numberAt, stringAt, valueAt } from '../json-access.ts';
import { FieldErrors } from './field-errors.ts';

/** Checks a custom resource, apart from its type and metadata, by the structural schema of its definition. */
export function validateBySchema(object: Fields, schema: Fields, errors: FieldErrors): void {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object;
  const { apiVersion: _a, kind: _k, metadata: _m, ...properties } = fieldsAt(schema, 'properties');
  const required = listAt(schema, 'required').filter((field) => !TYPE_FIELDS.includes(String(field)));
  validateValue(rest, { ...schema, properties, required }, '', errors);
}

const TYPE_FIELDS = ['apiVersion', 'kind', 'metadata'];

function validateValue(value: unknown, schema: Fields, path: string, errors: FieldErrors): void {
  if (value === null && schema['nullable'] === true) return;
  const expected = stringAt(schema, 'type');
  const given = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (given !== 'integer' && given !== 'string')
      errors.typeInvalid(path, given, `${inBody(path)} must be of type integer,string: "${given}"`);
  } else if (expected !== '' && given !== expected && !(expected === 'number' && given === 'integer')) {
    errors.typeInvalid(path, given, `${inBody(path)} must be of type ${expected}: "${given}"`);
    validateEnum(value, schema, path, errors);
    return;
  }
  validateEnum(value, schema, path, errors);
  if (typeof value === 'string') validateString(value, schema, path, errors);
  else if (typeof value === 'number') validateNumber(value, schema, path, errors);
  else if (Array.isArray(value)) validateList(value, schema, path, errors);
  else if (isObject(value)) validateFields(value, schema, path, errors);
  validateCombinations(value, schema, path, errors);
}

function inBody(path: string): string {
  return `${path} in body`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isRawJson(value)) return /[.eE]/.test(JSON.stringify(value)) ? 'number' : 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function validateEnum(value: unknown, schema: Fields, path: string, errors: FieldErrors): void {
  const allowed = listAt(schema, 'enum');
  if (allowed.length === 0 || allowed.some((each) => equalJson(each, value))) return;
  errors.notSupported(
    path,
    value,
    allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))),
  );
}

function validateString(value: string, schema: Fields, path: string, errors: FieldErrors): void {
  const length = Array.from(value).length;
  const maxLength = numberAt(schema, 'maxLength');
  if (maxLength !== undefined && length > maxLength) errors.tooLong(path, maxLength);
  const minLength = numberAt(schema, 'minLength');
  const pattern = stringAt(schema, 'pattern');
  if (minLength !== undefined && length < minLength)
    errors.invalid(path, value, `${inBody(path)} should be at least ${minLength} chars long`);
  else if (pattern !== '' && expressionOf(pattern)?.test(value) === false)
    errors.invalid(path, value, `${inBody(path)} should match '${pattern}'`);
  const format = stringAt(schema, 'format');
  if (FORMATS[format]?.(value) === false)
    errors.typeInvalid(path, value, `${inBody(path)} must be of type ${format}: ${JSON.stringify(value)}`);
}

/** Undefined for an expression that only Go knows. */
function expressionOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  'date-time': (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
};

function validateNumber(value: number, schema: Fields, path: string, errors: FieldErrors): void {
  const minimum = numberAt(schema, 'minimum');
  if (minimum !== undefined) {
    const isExclusive = schema['exclusiveMinimum'] === true;
    if (isExclusive ? value <= minimum : value < minimum)
      errors.invalid(
        path,
        value,
        `${inBody(path)} should be greater than ${isExclusive ? '' : 'or equal to '}${minimum}`,
      );
  }
  const maximum = numberAt(schema, 'maximum');
  if (maximum !== undefined) {
    const isExclusive = schema['exclusiveMaximum'] === true;
    if (isExclusive ? value >= maximum : value > maximum)
      errors.invalid(
        path,
        value,
        `${inBody(path)} should be less than ${isExclusive ? '' : 'or equal to '}${maximum}`,
      );
  }
  const multiple = numberAt(schema, 'multipleOf');
  if (multiple !== undefined && !Number.isInteger(value / multiple))
    errors.invalid(path, value, `${inBody(path)} should be a multiple of ${multiple}`);
}

function validateList(list: readonly unknown[], schema: Fields, path: string, errors: FieldErrors): void {
  const minItems = numberAt(schema, 'minItems');
  if (minItems !== undefined && list.length < minItems)
    errors.invalid(path, list.length, `${inBody(path)} should have at least ${minItems} items`);
  const maxItems = numberAt(schema, 'maxItems');
  if (maxItems !== undefined && list.length > maxItems) errors.tooMany(path, list.length, maxItems);
  const items = schema['items'];
  if (isObject(items))
    for (const [index, item] of list.entries()) validateValue(item, items, `${path}[${index}]`, errors);
  validateUniqueness(list, schema, path, errors);
}

function validateUniqueness(
  list: readonly unknown[],
  schema: Fields,
  path: string,
  errors: FieldErrors,
): void {
  const type = stringAt(schema, 'x-kubernetes-list-type');
  if (type !== 'map' && type !== 'set') return;
  const keys = listAt(schema, 'x-kubernetes-list-map-keys').map(String);
  const seen: unknown[] = [];
  for (const [index, item] of list.entries()) {
    const element = type === 'set' ? item : Object.fromEntries(keys.map((key) => [key, fieldsAt(item)[key]]));
    if (seen.some((other) => equalJson(other, element))) errors.duplicate(`${path}[${index}]`, element);
    seen.push(element);
  }
}

function validateFields(value: Fields, schema: Fields, path: string, errors: FieldErrors): void {
  const place = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const properties = fieldsAt(schema, 'properties');
  const additional = schema['additionalProperties'];
  for (const [field, content] of Object.entries(value)) {
    const property = valueAt(properties, field) ?? additional;
    if (isObject(property)) validateValue(content, property, place(field), errors);
  }
  for (const field of listAt(schema, 'required').map(String)) {
    if (valueAt(value, field) === undefined) errors.required(place(field));
  }
  const maxProperties = numberAt(schema, 'maxProperties');
  const count = Object.keys(value).length;
  if (maxProperties !== undefined && count > maxProperties) errors.tooMany(path, count, maxProperties);
  const minProperties = numberAt(schema, 'minProperties');
  if (minProperties !== undefined && count < minProperties)
    errors.invalid(path, count, `${inBody(path)} should have at least ${minProperties} properties`);
}

/** What the API server names in the place of a path where no schema of several fits. */
const NO_PATH = '<nil>';

function validateCombinations(value: unknown, schema: Fields, path: string, errors: FieldErrors): void {
  const problemsOf = (each: unknown): FieldErrors => {
    const inner = new FieldErrors();
    validateValue(value, fieldsAt(each), path, inner);
    return inner;
  };
  const matches = (each: unknown): boolean => problemsOf(each).count === 0;
  const name = JSON.stringify(path);
  const anyOf = listAt(schema, 'anyOf');
  if (anyOf.length > 0 && schema['x-kubernetes-int-or-string'] !== true && !anyOf.some(matches)) {
    errors.invalid(NO_PATH, '', `${name} must validate at least one schema (anyOf)`);
    errors.addAll(problemsOf(anyOf[0]));
  }
  const oneOf = listAt(schema, 'oneOf');
  const found = oneOf.filter(matches).length;
  if (oneOf.length > 0 && found !== 1) {
    const count = found === 0 ? 'none valid' : `${found} valid alternatives`;
    errors.invalid(NO_PATH, '', `${name} must validate one and only one schema (oneOf). Found ${count}`);
    if (found === 0) errors.addAll(problemsOf(oneOf[0]));
  }
  const allOf = listAt(schema, 'allOf');
  if (!allOf.every(matches)) {
    errors.invalid(NO_PATH, '', `${name} must validate all the schemas (allOf)`);
    for (const each of allOf) errors.addAll(problemsOf(each));
  }
  if (isObject(schema['not']) && matches(schema['not']))
    errors.invalid(NO_PATH, '', `${name} must not validate the schema (not)`);
}
