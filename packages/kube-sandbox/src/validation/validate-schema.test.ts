import { expect, test } from 'vitest';
import { Field } from './field.ts';
import { validateBySchema } from './validate-schema.ts';

function problems(spec: unknown, schema: object): readonly string[] {
  const object = new Field({ spec });
  validateBySchema(object, { type: 'object', properties: { spec: schema } });
  return object.causes.map(({ field, message }) => `${field}: ${message}`);
}

const text = { type: 'string' };

test.each([
  [1, { type: 'integer', minimum: 1, maximum: 1, multipleOf: 1 }],
  [1, { type: 'number' }],
  [null, { type: 'string', nullable: true }],
  ['http', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }],
  [['a', 'b'], { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 2 }],
  [{ a: 'x' }, { type: 'object', additionalProperties: text, maxProperties: 1 }],
  ['x', { type: 'string', pattern: '(?i)go only' }],
])('accepts %j', (spec, schema) => {
  expect(problems(spec, schema)).toEqual([]);
});

test.each([
  [
    'x',
    { type: 'integer' },
    ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
  ],
  [
    0,
    { type: 'integer', minimum: 1 },
    ['spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
  ],
  [
    1,
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    ['spec: Invalid value: 1: spec in body should be greater than 1'],
  ],
  ['c', { ...text, enum: ['a', 'b'] }, ['spec: Unsupported value: "c": supported values: "a", "b"']],
  ['abc', { ...text, maxLength: 2 }, ['spec: Too long: may not be more than 2 bytes']],
  [{}, { type: 'object', required: ['a'] }, ['spec.a: Required value']],
  [
    ['a', 'a'],
    { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ['spec[1]: Duplicate value: "a"'],
  ],
  [['a', 'b'], { type: 'array', items: text, maxItems: 1 }, ['spec: Too many: 2: must have at most 1 items']],
  [
    'x',
    { ...text, not: { enum: ['x'] } },
    ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
  ],
])('refuses %j', (spec, schema, expected) => {
  expect(problems(spec, schema)).toEqual(expected);
});
