import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import {
  equalJson,
  fieldsAt,
  listAt,
  numberAt,
  scalarString,
  stringAt,
  stringsAt,
  valueAt,
  withoutFields,
} from './json-access.ts';

const object = { spec: { list: [{ name: 'a' }], count: 2, labels: { a: 'b', n: 1 } } };

test('valueAt() follows fields and indexes, and finds nothing where a step is missing', () => {
  expect(valueAt(object, 'spec', 'list', 0, 'name')).toBe('a');
  expect(valueAt(object, 'spec', 'none', 'deeper')).toBeUndefined();
  expect(valueAt(object, 'toString')).toBeUndefined();
});

test('typed access gives an empty value for what is of another type', () => {
  expect(fieldsAt(object, 'spec', 'count')).toEqual({});
  expect(listAt(object, 'spec')).toEqual([]);
  expect(stringAt(object, 'spec', 'count')).toBe('');
  expect(numberAt(object, 'spec', 'list')).toBeUndefined();
  expect(stringsAt(object, 'spec', 'labels')).toEqual({ a: 'b' });
});

test('withoutFields() copies without some fields', () => {
  expect(withoutFields({ a: 1, b: 2, c: 3 }, 'a', 'c')).toEqual({ b: 2 });
});

test('scalarString() writes scalars and nothing else', () => {
  expect([
    scalarString('a'),
    scalarString(1),
    scalarString(true),
    scalarString({}),
    scalarString(null),
  ]).toEqual(['a', '1', 'true', '', '']);
});

test.each([
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [{ a: undefined }, { b: 1 }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [null, {}, false],
  [parseJson('12345678901234567890'), parseJson('12345678901234567890'), true],
  [parseJson('12345678901234567890'), parseJson('12345678901234567891'), false],
])('equalJson(%j, %j) is %s', (left, right, isEqual) => {
  expect(equalJson(left, right)).toBe(isEqual);
});
