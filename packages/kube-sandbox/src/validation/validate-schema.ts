import { isObject, isRawJson } from '@addon-operator/json';
import { equalJson, type Fields, fieldsAt, listAt, numberAt, stringAt, valueAt } from '../json-access.ts';
import { Field } from './field.ts';

const TYPE_FIELDS = ['apiVersion', 'kind', 'metadata'];

/** Checks a custom resource, apart from its type and metadata, by the structural schema of its definition. */
export function validateBySchema(object: Field, schema: Fields): void {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object.fields;
  const { apiVersion: _a, kind: _k, metadata: _m, ...properties } = fieldsAt(schema, 'properties');
  const required = listAt(schema, 'required').filter((field) => !TYPE_FIELDS.includes(String(field)));
  validateValue(object.named('', rest), { ...schema, properties, required });
}

function validateValue(field: Field, schema: Fields): void {
  const { value } = field;
  if (value === null && schema['nullable'] === true) return;
  const isRightType = validateType(field, schema);
  validateEnum(field, schema);
  if (!isRightType) return;
  if (typeof value === 'string') validateString(field, value, schema);
  else if (typeof value === 'number') validateNumber(field, value, schema);
  else if (Array.isArray(value)) validateList(field, schema);
  else if (isObject(value)) validateFields(field, schema);
  validateCombinations(field, schema);
}

/** Reports a wrong type; false if nothing else can be checked then. */
function validateType(field: Field, schema: Fields): boolean {
  const expected = stringAt(schema, 'type');
  const given = typeOf(field.value);
  const report = (types: string): void =>
    field.typeInvalid(given, `${inBody(field)} must be of type ${types}: "${given}"`);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (given !== 'integer' && given !== 'string') report('integer,string');
    return true;
  }
  if (expected === '' || given === expected || (expected === 'number' && given === 'integer')) return true;
  report(expected);
  return false;
}

function inBody({ path }: Field): string {
  return `${path} in body`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isRawJson(value)) return /[.eE]/.test(JSON.stringify(value)) ? 'number' : 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function validateEnum(field: Field, schema: Fields): void {
  const allowed = listAt(schema, 'enum');
  if (allowed.length === 0 || allowed.some((each) => equalJson(each, field.value))) return;
  field.notSupported(allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))));
}

function validateString(field: Field, value: string, schema: Fields): void {
  const length = Array.from(value).length;
  const maxLength = numberAt(schema, 'maxLength');
  if (maxLength !== undefined && length > maxLength) field.tooLong(maxLength);
  const minLength = numberAt(schema, 'minLength');
  const pattern = stringAt(schema, 'pattern');
  if (minLength !== undefined && length < minLength)
    field.invalid(`${inBody(field)} should be at least ${minLength} chars long`);
  else if (pattern !== '' && expressionOf(pattern)?.test(value) === false)
    field.invalid(`${inBody(field)} should match '${pattern}'`);
  const format = stringAt(schema, 'format');
  if (FORMATS[format]?.(value) === false)
    field.typeInvalid(value, `${inBody(field)} must be of type ${format}: ${JSON.stringify(value)}`);
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

function validateNumber(field: Field, value: number, schema: Fields): void {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const minimum = numberAt(schema, 'minimum') ?? Number.NEGATIVE_INFINITY;
  const maximum = numberAt(schema, 'maximum') ?? Number.POSITIVE_INFINITY;
  const orEqual = (isExclusive: unknown): string => (isExclusive === true ? '' : 'or equal to ');
  if (value < minimum || (value === minimum && exclusiveMinimum === true))
    field.invalid(`${inBody(field)} should be greater than ${orEqual(exclusiveMinimum)}${minimum}`);
  if (value > maximum || (value === maximum && exclusiveMaximum === true))
    field.invalid(`${inBody(field)} should be less than ${orEqual(exclusiveMaximum)}${maximum}`);
  const multiple = numberAt(schema, 'multipleOf');
  if (multiple !== undefined && !Number.isInteger(value / multiple))
    field.invalid(`${inBody(field)} should be a multiple of ${multiple}`);
}

function validateList(field: Field, schema: Fields): void {
  const { length } = field.list;
  const minItems = numberAt(schema, 'minItems');
  if (minItems !== undefined && length < minItems)
    field.invalid(`${inBody(field)} should have at least ${minItems} items`, length);
  const maxItems = numberAt(schema, 'maxItems');
  if (maxItems !== undefined && length > maxItems) field.tooMany(length, maxItems);
  const { items } = schema;
  if (isObject(items)) for (const item of field.items) validateValue(item, items);
  validateUniqueness(field, schema);
}

function validateUniqueness(field: Field, schema: Fields): void {
  const type = stringAt(schema, 'x-kubernetes-list-type');
  if (type !== 'map' && type !== 'set') return;
  const keys = listAt(schema, 'x-kubernetes-list-map-keys').map(String);
  const seen: unknown[] = [];
  for (const item of field.items) {
    const element =
      type === 'set' ? item.value : Object.fromEntries(keys.map((key) => [key, item.fields[key]]));
    if (seen.some((other) => equalJson(other, element))) item.duplicate(element);
    seen.push(element);
  }
}

function validateFields(field: Field, schema: Fields): void {
  const properties = fieldsAt(schema, 'properties');
  for (const name of Object.keys(field.fields)) {
    const property = valueAt(properties, name) ?? schema['additionalProperties'];
    if (isObject(property)) validateValue(field.at(name), property);
  }
  for (const name of listAt(schema, 'required').map(String))
    if (!field.at(name).isSet) field.at(name).required();
  const count = Object.keys(field.fields).length;
  const maxProperties = numberAt(schema, 'maxProperties');
  if (maxProperties !== undefined && count > maxProperties) field.tooMany(count, maxProperties);
  const minProperties = numberAt(schema, 'minProperties');
  if (minProperties !== undefined && count < minProperties)
    field.invalid(`${inBody(field)} should have at least ${minProperties} properties`, count);
}

function validateCombinations(field: Field, schema: Fields): void {
  const problemsOf = (each: unknown): Field['causes'] => {
    const alone = new Field(field.value, field.path);
    validateValue(alone, fieldsAt(each));
    return alone.causes;
  };
  const matches = (each: unknown): boolean => problemsOf(each).length === 0;
  // What the API server names in the place of a path where no schema of several fits.
  const report = (why: string): void =>
    field.named('<nil>', '').invalid(`${JSON.stringify(field.path)} ${why}`);
  const anyOf = listAt(schema, 'anyOf');
  if (anyOf.length > 0 && schema['x-kubernetes-int-or-string'] !== true && !anyOf.some(matches)) {
    report('must validate at least one schema (anyOf)');
    field.causes.push(...problemsOf(anyOf[0]));
  }
  const oneOf = listAt(schema, 'oneOf');
  const found = oneOf.filter(matches).length;
  if (oneOf.length > 0 && found !== 1) {
    const count = found === 0 ? 'none valid' : `${found} valid alternatives`;
    report(`must validate one and only one schema (oneOf). Found ${count}`);
    if (found === 0) field.causes.push(...problemsOf(oneOf[0]));
  }
  const allOf = listAt(schema, 'allOf');
  if (!allOf.every(matches)) {
    report('must validate all the schemas (allOf)');
    field.causes.push(...allOf.flatMap(problemsOf));
  }
  if (isObject(schema['not']) && matches(schema['not'])) report('must not validate the schema (not)');
}
