import { expect, test } from 'vitest';
import { type JsonPath, valueAt, withoutPaths, withValueAt } from './json-path.ts';

test.each<[unknown, unknown, unknown]>([
  [{ a: 1 }, 'a', 1],
  [{ a: 1 }, 'b', null],
  [{ a: 1 }, 'constructor', null],
  [[1, 2], 1, 2],
  [[1, 2], -1, 2],
  [[1, 2], 5, null],
  [null, 'a', null],
  [null, 0, null],
])('valueAt() of %j at %j is %j', (value, key, expected) => {
  expect(valueAt(value, key)).toEqual(expected);
});

test('valueAt() refuses keys that do not fit', () => {
  expect(() => valueAt('text', 'a')).toThrow('Cannot index string with "a"');
  expect(() => valueAt([1], 'a')).toThrow('Cannot index array with "a"');
  expect(() => valueAt({}, 1)).toThrow('Cannot index object with number');
});

test.each<[unknown, JsonPath, unknown]>([
  [{ a: 1 }, ['a'], { a: 9 }],
  [{ a: 1 }, ['b', 'c'], { a: 1, b: { c: 9 } }],
  [null, ['a', 1], { a: [null, 9] }],
  [[1, 2], [-1], [1, 9]],
  [5, [], 9],
])('withValueAt() puts into %j at %j', (value, path, expected) => {
  expect(withValueAt(value, path, () => 9)).toEqual(expected);
});

test.each<[unknown, JsonPath[], unknown]>([
  [[1, 2, 3], [[0], [1]], [3]],
  [[1, 2, 3], [[-1]], [1, 2]],
  [
    { a: { b: 1, c: 2 }, d: [{ e: 1 }] },
    [
      ['a', 'b'],
      ['d', 0, 'e'],
      ['x', 'y'],
    ],
    { a: { c: 2 }, d: [{}] },
  ],
  [{ a: 1 }, [], { a: 1 }],
  [{ a: 1 }, [[]], null],
])('withoutPaths() takes from %j what is at %j', (value, paths, expected) => {
  expect(withoutPaths(value, paths)).toEqual(expected);
});
