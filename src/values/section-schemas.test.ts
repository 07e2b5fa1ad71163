import type { Json, JsonObject } from '@addon-operator/json';
import { parseCelRules } from '@addon-operator/value-schemas/cel-rules';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { expect, test } from 'vitest';
import { parseSectionSchemas, type SectionSchemas } from './section-schemas.ts';

const check = new SchemaCheck();
const file = (text: string) => ({ path: 'openapi/values.yaml', text });
const schemasOf = (values: string, config?: string): SectionSchemas =>
  parseSectionSchemas(config === undefined ? undefined : file(config), file(values), {
    check,
    parseRules: parseCelRules,
  });

function problems(schema: string, value: JsonObject): readonly string[] {
  return schemasOf(`type: object\n${schema}`).values?.problems('web', value) ?? ['no schema'];
}

/** The problems of a value under the property `a` of a schema given as flow YAML. */
const problemsOfA = (schema: string, a: Json): readonly string[] =>
  problems(`properties: {a: ${schema}}`, { a });

test.each<[string, string, Json, string]>([
  ['a type', '{type: integer}', 'secret', 'web.a in body must be of type integer: "string"'],
  ['null', '{type: string}', null, 'web.a in body must be of type string: "null"'],
  ['several types', '{type: [string, boolean]}', 1, 'web.a in body must be of type string,boolean: "number"'],
  ['an enum', '{enum: [a, b, 1]}', 'secret', 'web.a in body should be one of [a b 1]'],
  ['a pattern', "{pattern: '^[a-z]+$'}", 'SECRET', "web.a in body should match '^[a-z]+$'"],
  ['a format', '{type: string, format: ipv4}', 'secret', 'web.a in body must be of type ipv4: "string"'],
  ['maximum', '{maximum: 5}', 6, 'web.a in body should be less than or equal to 5'],
  ['exclusiveMaximum', '{maximum: 5, exclusiveMaximum: true}', 5, 'web.a in body should be less than 5'],
  [
    'minimum',
    '{minimum: 5, exclusiveMinimum: false}',
    4,
    'web.a in body should be greater than or equal to 5',
  ],
  ['exclusiveMinimum', '{minimum: 5, exclusiveMinimum: true}', 5, 'web.a in body should be greater than 5'],
  ['multipleOf', '{multipleOf: 3}', 4, 'web.a in body should be a multiple of 3'],
  ['minLength', '{minLength: 3}', 'ab', 'web.a in body should be at least 3 chars long'],
  ['maxLength', '{maxLength: 3}', 'abcd', 'web.a in body should be at most 3 chars long'],
  ['minItems', '{minItems: 1}', [], 'web.a in body should have at least 1 items'],
  ['maxItems', '{maxItems: 1}', [1, 2], 'web.a in body should have at most 1 items'],
  ['uniqueItems', '{uniqueItems: true}', [1, 1], "web.a in body shouldn't contain duplicates"],
  [
    'minProperties',
    '{minProperties: 2, additionalProperties: true}',
    { x: 1 },
    'web.a in body should have at least 2 properties',
  ],
  ['required', '{type: object, required: [b], properties: {b: {}}}', {}, 'web.a.b in body is required'],
  ['not', '{not: {type: string}}', 'x', '"web.a" must not validate the schema (not)'],
  [
    'items, whose positions are left out',
    '{type: array, items: {type: string}}',
    [1],
    'web.a in body must be of type string: "number"',
  ],
])(
  'a value that breaks the schema is reported by path and expectation, not by value: %s',
  (_case, schema, value, problem) => {
    expect(problemsOfA(schema, value)).toEqual([problem]);
  },
);

test('all problems are reported at once', () => {
  expect(
    problems('required: [size]\nproperties: {size: {}, replicas: {type: integer}}', {
      replicas: 'x',
      foo: 1,
    }),
  ).toEqual([
    'web.size in body is required',
    'web.foo in body is a forbidden property',
    'web.replicas in body must be of type integer: "string"',
  ]);
});

test('a property that is nearly one of the schema is reported', () => {
  expect(problems('properties: {replicas: {type: integer}}', { replcias: 1 })).toEqual([
    'web.replcias in body is a forbidden property (did you mean "replicas"?)',
  ]);
});

test('nullable allows null, an unknown format and extensions allow everything', () => {
  expect(problemsOfA('{type: string, nullable: true}', null)).toEqual([]);
  expect(problemsOfA('{nullable: true}', 1)).toEqual([]);
  expect(problemsOfA('{type: string, format: whatever, x-doc: [1], id: b}', 'x')).toEqual([]);
});

test('null is judged by type alone where schemas are combined, and other values as ever', () => {
  const union = 'anyOf: [{type: integer}, {type: string, minLength: 2}]';
  expect(problemsOfA(`{nullable: true, ${union}}`, null)).toEqual([]);
  expect(problemsOfA(`{${union}}`, null)).toEqual([]);
  expect(problemsOfA('{type: string, nullable: true, oneOf: [{pattern: a, type: string}]}', null)).toEqual(
    [],
  );
  expect(problemsOfA('{type: string, allOf: [{minLength: 2}]}', null)).toEqual([
    'web.a in body must be of type string: "null"',
  ]);
  expect(problemsOfA(`{nullable: true, ${union}}`, true)).toEqual([
    'web.a in body must be of type integer: "boolean"',
    'web.a in body must be of type string: "boolean"',
    '"web.a" must validate at least one schema (anyOf)',
  ]);
  expect(problemsOfA(`{nullable: true, ${union}}`, 'x')).toContain(
    'web.a in body should be at least 2 chars long',
  );
});

test('multiples of fractions are found although doubles cannot hold them', () => {
  expect(problemsOfA('{multipleOf: 0.01}', 0.07)).toEqual([]);
  expect(problemsOfA('{multipleOf: 0.1}', 0.3)).toEqual([]);
  expect(problemsOfA('{multipleOf: 0.01}', 0.075)).toEqual(['web.a in body should be a multiple of 0.01']);
});

test('objects are closed unless they say otherwise, and what is below a property that says so is left open', () => {
  expect(problemsOfA('{type: object}', { b: 1 })).toEqual(['web.a.b in body is a forbidden property']);
  expect(problemsOfA('{type: object, additionalProperties: true}', { b: 1 })).toEqual([]);
  const nested = '{type: object, additionalProperties: false, properties: {b: {type: object}}}';
  expect(problemsOfA(nested, { b: { c: 1 } })).toEqual([]);
  expect(problemsOfA('{type: array, items: {type: object}}', [{ c: 1 }])).toEqual([
    'web.a.c in body is a forbidden property',
  ]);
  expect(problemsOfA('{allOf: [{type: object}], additionalProperties: true}', { b: 1 })).toEqual([]);
});

test('a local reference is replaced by its target, also one that contains itself', () => {
  const schema = `
definitions:
  port: {type: integer, maximum: 9}
  tree: {type: object, properties: {left: {$ref: '#/definitions/tree'}, n: {type: integer}}}
properties:
  port: {$ref: '#/definitions/port'}
  tree: {$ref: '#/definitions/tree'}`;
  expect(problems(schema, { port: 10, tree: { left: { left: { n: 'x' } } } })).toEqual([
    'web.port in body should be less than or equal to 9',
    'web.tree.left.left.n in body must be of type integer: "string"',
  ]);
});

test('x-extend merges the schema of config values in, own properties win', () => {
  const config = 'type: object\nrequired: [host]\nproperties: {host: {type: string}, n: {type: string}}';
  const { values } = schemasOf(
    'x-extend: {schema: config-values.yaml}\ntype: object\nproperties: {n: {type: integer}, own: {type: string}}',
    config,
  );
  expect(values?.problems('web', { n: 1, own: 'x' })).toEqual(['web.host in body is required']);
  expect(values?.problems('web', { host: 'h', n: 1, own: 'x' })).toEqual([]);
});

test('x-required-for-helm counts before helm only, at the root and in properties', () => {
  const { values, helm } = schemasOf(`
type: object
x-required-for-helm: a
properties:
  a: {type: string}
  b: {type: object, x-required-for-helm: [c], properties: {c: {type: string}}}`);
  expect(values?.problems('web', { b: {} })).toEqual([]);
  expect(helm?.problems('web', { b: {} })).toEqual([
    'web.a in body is required',
    'web.b.c in body is required',
  ]);
});

test('nothing is said about values that are not known yet', () => {
  const { values } = schemasOf('type: object\nproperties: {a: {type: string}, b: {anyOf: [{type: string}]}}');
  expect(values?.problems('web', { a: null, b: null }, { unknown: ['/a', '/b'] })).toEqual([]);
  expect(values?.problems('web', { a: null, b: 'x' }, { unknown: ['/b'] })).toHaveLength(1);
});

test.each([
  ['no map', '- 1', 'a map is expected at the top level'],
  [
    'a type that does not exist',
    'properties: {a: {type: int}}',
    /: schema\/properties\/a\/type must be one of array, boolean, integer, null, number, object, string$/,
  ],
  [
    'items that are no schema',
    'properties: {a: {items: x}}',
    /: schema\/properties\/a\/items must be object,boolean$/,
  ],
  ['a reference to nothing', "$ref: '#/definitions/x'", '$ref "#/definitions/x" does not point to a schema'],
  [
    'a reference without its slash',
    "$ref: '#definitions/x'",
    '$ref "#definitions/x" does not point to a schema',
  ],
  [
    'a reference with a bad escape',
    "$ref: '#/definitions/x~'",
    '$ref "#/definitions/x~" does not point to a schema',
  ],
  ['a reference to another file', "$ref: 'other.yaml'", 'points outside of the file'],
  ['a bad pattern', "properties: {a: {pattern: '('}}", "pattern '(' is not a Go regular expression"],
  [
    'a pattern that Go refuses, by its path',
    "properties: {a/b: {items: {pattern: '(?=x)'}}}",
    "schema/properties/a~1b/items/pattern: pattern '(?=x)' is not a Go regular expression: invalid or unsupported Perl syntax: `(?=`",
  ],
  [
    'a pattern of names that Go refuses, by its path',
    "properties: {a: {anyOf: [{patternProperties: {'(x)\\1': {}}}]}}",
    "schema/properties/a/anyOf/0/patternProperties: pattern '(x)\\1' is not a Go regular expression",
  ],
])('a file that is no schema is refused by name: %s', (_case, text, reason) => {
  expect(() => schemasOf(text)).toThrow("load 'values' schema: openapi/values.yaml: ");
  expect(() => schemasOf(text)).toThrow(reason);
});

test('broken YAML is reported with its file and line, once', () => {
  expect(() => schemasOf('a: [1')).toThrow(/^load 'values' schema: openapi\/values\.yaml:1: (?!.*openapi)/);
});

test('references that multiply are refused', () => {
  const levels = Array.from(
    { length: 12 },
    (_, n) =>
      `  l${n}: {properties: {a: {$ref: '#/definitions/l${n + 1}'}, b: {$ref: '#/definitions/l${n + 1}'}}}`,
  );
  const bomb = `definitions:\n${levels.join('\n')}\n  l12: {type: string}\n$ref: '#/definitions/l0'`;
  expect(() => schemasOf(bomb)).toThrow('more than 1000 places refer to a schema with $ref');
});

test('an empty file is as good as none', () => {
  expect(parseSectionSchemas(file('# later\n'), undefined, { check })).toEqual({});
});

test('bounds beyond what values can hold are taken as they are', () => {
  const schema = '{type: integer, minimum: -9223372036854775808, maximum: 9223372036854775807}';
  expect(problemsOfA(schema, Number.MAX_SAFE_INTEGER)).toEqual([]);
});

test('where rules do not hold nothing else is said, and rules of the config schema are inherited', () => {
  const rules = "x-deckhouse-validations: [{expression: 'self.a < self.b', message: a must be less}]";
  const { values } = schemasOf('x-extend: {}\nproperties: {c: {}}', `${rules}\nproperties: {a: {}, b: {}}`);
  expect(values?.problems('web', { a: 2, b: 1, d: 1 })).toEqual(['a must be less']);
  expect(values?.problems('web', { a: 1, b: 2, d: 1 })).toEqual(['web.d in body is a forbidden property']);
  expect(() => schemasOf(rules.replace('<', '<<'))).toThrow(/load 'values' schema: .*compile the/);
});
