// Checks values against the OpenAPI schemas of modules. A schema is converted once to JSON schema draft 7 for
// ajv, which compiles it on first use; custom rules (`cel-rules.ts`) are checked before. Problems come out as
// sentences that never contain values (`value-problem.ts`), since values may be secret. Regular expressions
// are those of Go, in linear time.

import { isIPv4, isIPv6 } from 'node:net';
import { type Json, type JsonObject, withRoundedNumbers } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { re2Pattern, type SchemaCheck } from './schema-check.ts';
import type { RuleContext, RuleParser, SchemaRules } from './schema-rules.ts';
import { mapIn, mapSubSchemas } from './sub-schemas.ts';
import { valueProblem } from './value-problem.ts';

/** One schema, ready to check values and to apply defaults. */
export class ValuesSchema {
  readonly #schema: JsonObject;
  readonly #draft: JsonObject;
  readonly #rules: SchemaRules | undefined;
  #validate: ValidateFunction | undefined;

  private constructor(schema: JsonObject, draft: JsonObject, rules: SchemaRules | undefined) {
    this.#schema = schema;
    this.#draft = draft;
    this.#rules = rules;
  }

  /**
   * @param parseRules left out: rules in the schema count for nothing
   * @throws OperatorError VALUES_INVALID listing everything by which it is no schema
   */
  static parse(schema: JsonObject, check: SchemaCheck, parseRules?: RuleParser): ValuesSchema {
    // Numbers are only compared, and the validator knows doubles only.
    const draft = withRoundedNumbers(toJsonSchema(schema));
    check.assertSchema(draft);
    return new ValuesSchema(schema, draft, parseRules?.(schema));
  }

  /** See {@link applyDefaults}. */
  withDefaults(value: JsonObject): JsonObject {
    return applyDefaults(this.#schema, value);
  }

  /** The values that the schema lists for a property of the section, also in alternatives; empty if it lists none. */
  choices(property: string): readonly Json[] {
    const child = mapIn(this.#schema, 'properties')[property];
    return isJsonMap(child) ? listedValues(child) : [];
  }

  /**
   * All problems of a section; empty when it is valid. The schema is checked only if its rules hold.
   *
   * @param key what paths begin with: the key of the section
   * @param context values that are not known yet are null: no problem is reported for them
   */
  problems(key: string, value: JsonObject, context: RuleContext = { unknown: [] }): readonly string[] {
    const compared = withRoundedNumbers(value);
    const previous = context.previous && withRoundedNumbers(context.previous);
    const broken = this.#rules?.problems(compared, { ...context, previous }) ?? [];
    if (broken.length > 0) return broken;
    // Created on first use: most modules never need it.
    this.#validate ??= createAjv().compile(this.#draft);
    if (this.#validate(compared)) return [];
    const errors = (this.#validate.errors ?? []).filter(
      // What fails inside `if` is reported by itself.
      (error) => error.keyword !== 'if' && !isAboutUnknown(error, context.unknown),
    );
    return [...new Set(errors.map((error) => valueProblem(error, key, compared)))];
  }
}

/** The values of `enum`, also in combinations. */
function listedValues(schema: JsonObject): readonly Json[] {
  const listed = schema['enum'];
  const alternatives = ['oneOf', 'anyOf', 'allOf'].flatMap((keyword) => schema[keyword] ?? []);
  return [
    ...(Array.isArray(listed) ? listed : []),
    ...alternatives.flatMap((each) => (isJsonMap(each) ? listedValues(each) : [])),
  ];
}

/**
 * Validators are strict about values and lenient about schemas: schemas were checked when they were parsed.
 */
function createAjv(): Ajv {
  // ajv passes flags of JavaScript.
  const regExp = Object.assign((pattern: string) => re2Pattern(pattern), { code: 're2Pattern' });
  return new Ajv({
    allErrors: true,
    meta: false,
    validateSchema: false,
    strict: false,
    verbose: true,
    logger: false,
    ownProperties: true,
    formats: SCHEMA_FORMATS,
    // Without it 0.07 would be no multiple of 0.01.
    multipleOfPrecision: 9,
    // Optimizing a schema takes three times as long as compiling it, and it is run a few times only.
    code: { regExp, optimize: false },
  });
}

/** A combination such as anyOf cannot be judged when a part of its input is not known. */
const COMBINATIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not']);

/** Whether a problem concerns a value that is not known yet. */
function isAboutUnknown({ instancePath, keyword }: ErrorObject, unknown: readonly string[]): boolean {
  return unknown.some(
    (pointer) =>
      pointer === instancePath || (COMBINATIONS.has(keyword) && pointer.startsWith(`${instancePath}/`)),
  );
}

/**
 * The map with defaults of the schema put where a property is missing; what is there, null too, stays. Then the same in
 * the maps and lists it has. The default of a property in a map that is missing itself counts only when that map has a
 * default.
 */
export function applyDefaults(schema: JsonObject, value: JsonObject): JsonObject {
  const filled = new Map<string, Json>(Object.entries(value));
  for (const [name, child] of Object.entries(mapIn(schema, 'properties'))) {
    if (!isJsonMap(child)) continue;
    const present = filled.get(name) ?? (filled.has(name) ? null : child['default']);
    if (present !== undefined) filled.set(name, defaultsWithin(child, present));
  }
  // Defines own properties, so a key such as `__proto__` stays plain data.
  return Object.fromEntries(filled);
}

/** Defaults inside a value: in a map, or in each item of a list. */
function defaultsWithin(schema: JsonObject, value: Json): Json {
  if (isJsonMap(value)) return applyDefaults(schema, value);
  const items = schema['items'];
  if (!Array.isArray(value) || !isJsonMap(items)) return value;
  return value.map((item: Json) => defaultsWithin(items, item));
}

/** Keywords that constrain values. Everything else (texts, examples, defaults, extensions) says nothing about them. */
const KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'definitions',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'not',
  'nullable',
  'oneOf',
  'pattern',
  'patternProperties',
  'properties',
  'required',
  'type',
  'uniqueItems',
]);

/** The OpenAPI schema in the words of JSON schema draft 7, where exclusive limits are numbers. */
function toJsonSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => KEYWORDS.has(key));
  const draft = new Map<string, Json>(kept);
  turnExclusive(draft, 'minimum', 'exclusiveMinimum');
  turnExclusive(draft, 'maximum', 'exclusiveMaximum');
  const hasType = draft.has('type');
  const takesNull = !hasType || draft.get('nullable') === true;
  // Without a type null is allowed anyway.
  if (!takesNull || !hasType) draft.delete('nullable');
  const mapped = mapSubSchemas(Object.fromEntries(draft), toJsonSchema);
  return takesNull ? sparingNull(mapped) : mapped;
}

const COMBINING: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'not', 'oneOf']);

/** Null is judged by type and enum alone in OpenAPI's validator: `nullable` beside `anyOf` allows it. */
function sparingNull(schema: JsonObject): JsonObject {
  const combinations = Object.entries(schema).filter(([key]) => COMBINING.has(key));
  if (combinations.length === 0) return schema;
  const others = Object.entries(schema).filter(([key]) => !COMBINING.has(key));
  return { ...Object.fromEntries(others), if: { type: 'null' }, else: Object.fromEntries(combinations) };
}

/** OpenAPI's `exclusiveMinimum: true` beside `minimum` becomes a number of its own. */
function turnExclusive(draft: Map<string, Json>, limit: string, exclusive: string): void {
  const isExclusive = draft.get(exclusive);
  if (typeof isExclusive !== 'boolean') return;
  draft.delete(exclusive);
  const bound = draft.get(limit);
  if (!isExclusive || bound === undefined) return;
  draft.set(exclusive, bound);
  draft.delete(limit);
}

/** With or without hyphens; `V` marks the digit of the version. */
const UUID = '[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?V[0-9a-fA-F]{3}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}';
const uuid = (version: string): RegExp => new RegExp(`^${UUID.replace('V', version)}$`);

const HOST_NAME =
  /^(?=.{1,255}$)[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)*\.?$/u;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;

/** Formats of texts that are checked; any other word after `format` means nothing. */
export const SCHEMA_FORMATS: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  bsonobjectid: /^[0-9a-fA-F]{24}$/,
  byte: /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?$/,
  cidr: isCidr,
  date: isDate,
  'date-time': (text) => DATE_TIME.test(text) && isDate(text.slice(0, 10)),
  datetime: (text) => DATE_TIME.test(text) && isDate(text.slice(0, 10)),
  // No text may match in more than one way: one that does not match would be tried in all of them.
  duration: /^-?(?:\d+(?:\.\d+)?\s*(?:µs|[a-z]+)\s*)+$/i,
  email: /^(?:[^\s@<>]+@[^\s@<>]+|[^<>]*<[^\s@<>]+@[^\s@<>]+>)$/,
  hexcolor: /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/,
  hostname: HOST_NAME,
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: /^(?:(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})$/,
  rgbcolor: /^rgb\(\s*(?:\d{1,3}\s*,\s*){2}\d{1,3}\s*\)$/,
  // A path alone is one too, as in a request.
  uri: (text) => text.startsWith('/') || URL.canParse(text),
  uuid: uuid('[0-9a-fA-F]'),
  uuid3: uuid('3'),
  uuid4: uuid('4'),
  uuid5: uuid('5'),
};

/** A date of the calendar: 2025-02-30 is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // A day that the month does not have would come out as one of the next month.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** An address and a number of bits, in either family. */
function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}
