import { isObject } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';

/** Keys and indexes from the root of a document to one of its values. */
export type Path = readonly (string | number)[];

/** Called for each mistake; the path of an unknown key ends with that key. */
export type Report = (path: Path, message: string) => void;

/** What a value must look like: the same for the check and for editors. */
export interface Shape {
  /** JSON schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly check: (value: unknown, path: Path, report: Report) => void;
}

type Type = 'string' | 'number' | 'boolean' | 'mapping' | 'list' | 'null';

const SCHEMA_TYPES: Readonly<Record<Type, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  mapping: 'object',
  list: 'array',
  null: 'null',
};

function typeOf(value: unknown): Type {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return isObject(value) ? 'mapping' : 'number';
}

function hasType(wanted: Type, value: unknown, path: Path, report: Report): boolean {
  const type = typeOf(value);
  if (type === wanted) return true;
  report(path, `must be a ${wanted}, not ${type === 'null' ? 'empty' : `a ${type}`}`);
  return false;
}

function leaf(type: Type, description: string): Shape {
  return {
    schema: { type: SCHEMA_TYPES[type], description },
    check: (value, path, report) => void hasType(type, value, path, report),
  };
}

export const text = (description: string): Shape => leaf('string', description);
export const flag = (description: string): Shape => leaf('boolean', description);
export const mapping = (description: string): Shape => leaf('mapping', description);

/** Written to choose something; what is not chosen is left out. */
export function onlyTrue(description: string): Shape {
  return {
    schema: { const: true, description },
    check: (value, path, report) => {
      if (value !== true) report(path, 'must be true, or be left out');
    },
  };
}

export function count(description: string): Shape {
  return {
    schema: { type: 'integer', minimum: 0, description },
    check: (value, path, report) => {
      if (!Number.isInteger(value) || Number(value) < 0) report(path, 'must be a whole number from 0 on');
    },
  };
}

/** Any value, checked further by `check`. */
export function anything(
  description: string,
  check: (value: unknown, path: Path, report: Report) => void = () => undefined,
): Shape {
  return { schema: { description }, check };
}

export function word(description: string, words: readonly string[]): Shape {
  return {
    schema: { enum: words, description },
    check: (value, path, report) => {
      if (typeof value !== 'string' || !words.includes(value))
        report(path, `must be one of ${words.join(', ')}`);
    },
  };
}

/** A text of a form. */
export function textLike(
  description: string,
  form: { readonly pattern: RegExp; readonly name: string },
): Shape {
  return {
    schema: { type: 'string', pattern: form.pattern.source, description },
    check: (value, path, report) => {
      if (typeof value !== 'string' || !form.pattern.test(value)) report(path, `must be ${form.name}`);
    },
  };
}

export function listOf(item: Shape, description: string, minItems = 0): Shape {
  return {
    schema: { type: 'array', items: item.schema, minItems, description },
    check: (value, path, report) => {
      if (!hasType('list', value, path, report)) return;
      const items = value as readonly unknown[];
      if (items.length < minItems) report(path, `must have at least ${minItems} item`);
      for (const [index, each] of items.entries()) item.check(each, [...path, index], report);
    },
  };
}

/** A mapping with keys of the author. */
export function mapOf(value: Shape, description: string): Shape {
  return {
    schema: { type: 'object', additionalProperties: value.schema, description },
    check: (given, path, report) => {
      if (!hasType('mapping', given, path, report)) return;
      for (const [key, each] of Object.entries(given as object)) value.check(each, [...path, key], report);
    },
  };
}

/** One of several shapes: the first that takes values of this type. */
export function either(
  description: string,
  shapes: readonly { readonly type: Type; readonly shape: Shape }[],
): Shape {
  return {
    schema: { anyOf: shapes.map(({ shape }) => shape.schema), description },
    check: (value, path, report) => {
      const found = shapes.find(({ type }) => type === typeOf(value));
      if (found !== undefined) found.shape.check(value, path, report);
      else report(path, `must be ${shapes.map(({ type }) => `a ${type}`).join(' or ')}`);
    },
  };
}

interface FieldRules {
  readonly required?: readonly string[];
  /** Exactly one of these keys is given. */
  readonly oneOf?: readonly string[];
}

/** A mapping with known keys. */
export function fields(
  shapes: Readonly<Record<string, Shape>>,
  { required = [], oneOf }: FieldRules = {},
  description = '',
): Shape {
  const names = Object.keys(shapes);
  return {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(shapes).map(([name, { schema }]) => [name, schema])),
      ...(required.length > 0 && { required }),
      ...(oneOf !== undefined && { oneOf: oneOf.map((name) => ({ required: [name] })) }),
      ...(description !== '' && { description }),
    },
    check: (value, path, report) => {
      if (!hasType('mapping', value, path, report)) return;
      const given = value as Readonly<Record<string, unknown>>;
      for (const [key, each] of Object.entries(given)) {
        const shape = names.includes(key) ? shapes[key] : undefined;
        if (shape !== undefined) shape.check(each, [...path, key], report);
        else report([...path, key], `unknown key${didYouMean(key, names)}; allowed are ${names.join(', ')}`);
      }
      for (const name of required) if (!(name in given)) report(path, `${name} is missing`);
      if (oneOf !== undefined && oneOf.filter((name) => name in given).length !== 1)
        report(path, `must have exactly one of ${oneOf.join(', ')}`);
    },
  };
}
