import { isObject } from './json.ts';
import { didYouMean } from './similar-word.ts';

/** Keys and indexes from the root of a document to one of its values. */
export type Path = readonly (string | number)[];

/** `cases[0].steps[1].apply`. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

/** A mistake with its place in front. */
export function problemAt(path: Path, message: string): string {
  return path.length === 0 ? message : `${pathText(path)}: ${message}`;
}

/** Called for each mistake; the path of an unknown key ends with that key. */
export type Report = (path: Path, message: string) => void;

/** The form of a value: the same for the check, for editors and, as {@link Shaped}, for the compiler. */
export interface Shape<T = unknown> {
  /** JSON schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly check: (value: unknown, path: Path, report: Report) => void;
  /** Never set: only the compiler reads it. */
  readonly type?: T;
}

/** The type of the values of a shape. */
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Mapping = Readonly<Record<string, unknown>>;
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

function leaf<T>(type: Type, description: string): Shape<T> {
  return {
    schema: { type: SCHEMA_TYPES[type], description },
    check: (value, path, report) => void hasType(type, value, path, report),
  };
}

export const text = (description: string): Shape<string> => leaf('string', description);
export const number = (description: string): Shape<number> => leaf('number', description);
export const flag = (description: string): Shape<boolean> => leaf('boolean', description);
export const mapping = (description: string): Shape<Mapping> => leaf('mapping', description);

/** Written to choose something; what is not chosen is left out. */
export function onlyTrue(description: string): Shape<true> {
  return {
    schema: { const: true, description },
    check: (value, path, report) => {
      if (value !== true) report(path, 'must be true, or be left out');
    },
  };
}

export function count(description: string, maximum?: number): Shape<number> {
  const range = maximum === undefined ? 'on' : `to ${maximum}`;
  return {
    schema: { type: 'integer', minimum: 0, ...(maximum !== undefined && { maximum }), description },
    check: (value, path, report) => {
      const isIn = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= (maximum ?? Infinity);
      if (!isIn) report(path, `must be a whole number from 0 ${range}`);
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

export function word<const W extends string | number>(description: string, words: readonly W[]): Shape<W> {
  return {
    schema: { enum: words, description },
    check: (value, path, report) => {
      if (!words.some((each) => each === value)) report(path, `must be one of ${words.join(', ')}`);
    },
  };
}

/** A text of a form. */
export function textLike(
  description: string,
  form: { readonly pattern: RegExp; readonly name: string },
): Shape<string> {
  return {
    schema: { type: 'string', pattern: form.pattern.source, description },
    check: (value, path, report) => {
      if (typeof value !== 'string' || !form.pattern.test(value)) report(path, `must be ${form.name}`);
    },
  };
}

export function listOf<T>(item: Shape<T>, description: string, minItems = 0): Shape<readonly T[]> {
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
export function mapOf<T>(value: Shape<T>, description: string): Shape<Readonly<Record<string, T>>> {
  return {
    schema: { type: 'object', additionalProperties: value.schema, description },
    check: (given, path, report) => {
      if (!hasType('mapping', given, path, report)) return;
      for (const [key, each] of Object.entries(given as object)) value.check(each, [...path, key], report);
    },
  };
}

/** One of several shapes, by the type of the value. */
export function either<S extends Readonly<Partial<Record<Type, Shape>>>>(
  description: string,
  shapes: S,
): Shape<Shaped<S[keyof S]>> {
  const known: ReadonlyMap<string, Shape> = new Map(Object.entries(shapes));
  return {
    schema: { anyOf: [...known.values()].map(({ schema }) => schema), description },
    check: (value, path, report) => {
      const found = known.get(typeOf(value));
      if (found !== undefined) found.check(value, path, report);
      else report(path, `must be ${[...known.keys()].map((type) => `a ${type}`).join(' or ')}`);
    },
  };
}

type Shapes = Readonly<Record<string, Shape>>;

/** A mapping with these fields, those named `R` always. */
type Fields<F extends Shapes, R extends keyof F> = { readonly [K in R]: Shaped<F[K]> } & {
  readonly [K in Exclude<keyof F, R>]?: Shaped<F[K]>;
};

interface FieldRules<R> {
  readonly required?: readonly R[];
  /** Exactly one of these keys is given. */
  readonly oneOf?: readonly string[];
}

/** A mapping with known keys. */
export function fields<F extends Shapes, const R extends keyof F & string = never>(
  shapes: F,
  { required = [], oneOf }: FieldRules<R> = {},
  description = '',
): Shape<Fields<F, R>> {
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

/** A mapping that has all of these keys, and no others. */
export function exactObject<F extends Shapes>(
  shapes: F,
  description: string,
): Shape<Fields<F, keyof F & string>> {
  return fields(shapes, { required: keysOfShapes(shapes) }, description);
}

export function keysOfShapes<F extends Shapes>(shapes: F): readonly (keyof F & string)[] {
  return Object.keys(shapes);
}
