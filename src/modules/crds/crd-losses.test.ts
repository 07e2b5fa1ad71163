import { expect, test } from 'vitest';
import { crdLosses } from './crd-losses.ts';

type Fields = Readonly<Record<string, unknown>>;

const integer = { type: 'integer' };
const object = (properties: Fields): Fields => ({ type: 'object', properties });

function spec(versions: Readonly<Record<string, Fields>>, stored: string, unserved = ''): Fields {
  return {
    versions: Object.entries(versions).map(([name, schema]) => ({
      name,
      served: name !== unserved,
      storage: name === stored,
      schema: { openAPIV3Schema: schema },
    })),
  };
}

const V1 = spec({ v1: object({ spec: object({ size: integer }) }) }, 'v1');

test('crdLosses() finds none where versions, fields and descriptions are added', () => {
  const added = spec(
    {
      v1: { ...object({ spec: object({ size: integer, color: { type: 'string' } }) }), description: 'new' },
      v2: object({}),
    },
    'v1',
  );
  expect(crdLosses(V1, added)).toEqual([]);
  expect(crdLosses(V1, V1)).toEqual([]);
});

test('crdLosses() names versions that are gone, not served, or not stored any more', () => {
  const both = spec({ v1: object({}), v2: object({}) }, 'v2');
  expect(crdLosses(both, spec({ v1: object({}) }, 'v1'))).toEqual(['version v2']);
  expect(crdLosses(both, spec({ v1: object({}), v2: object({}) }, 'v1', 'v2'))).toEqual([
    'version v2 as served',
    'version v2 as stored',
  ]);
});

test('crdLosses() names fields that are gone at any depth, and rules that differ', () => {
  const deep = (item: Fields, entry: Fields): Fields =>
    spec(
      {
        v1: object({
          list: { type: 'array', items: object(item) },
          map: { type: 'object', additionalProperties: object(entry) },
        }),
      },
      'v1',
    );
  const full = deep({ size: integer, color: integer }, { port: integer });
  expect(crdLosses(full, deep({ size: { ...integer, minimum: 1 } }, {}))).toEqual([
    'the rules of v1.list[].size',
    'field v1.list[].color',
    'field v1.map.*.port',
  ]);
  expect(crdLosses(full, spec({ v1: object({}) }, 'v1'))).toEqual(['field v1.list', 'field v1.map']);
  const listOf = (items: Fields): Fields => spec({ v1: object({ list: { type: 'array', ...items } }) }, 'v1');
  expect(crdLosses(listOf({ items: integer }), listOf({}))).toEqual(['field v1.list[]']);
});
