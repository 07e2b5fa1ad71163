import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { strictJson } from './strict-json.ts';

const ring: { list: unknown[] } = { list: [] };
ring.list.push(1, ring);
const twice = { a: 1 };

test.each([
  [undefined, undefined],
  [null, 'null'],
  [{ a: [1, 'x', true, null], b: undefined }, '{"a":[1,"x",true,null]}'],
  [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  [parseJson('{"n":12345678901234567890}'), '{"n":12345678901234567890}'],
  [[twice, twice], '[{"a":1},{"a":1}]'],
])('strictJson() writes %j as %j', (value, text) => {
  expect(strictJson('it', value)).toBe(text);
});

test.each([
  ['a function', () => 1, 'the answer is not JSON: it is a function'],
  ['a function inside', { a: { b: [() => 1] } }, 'the answer is not JSON: .a.b[0] is a function'],
  ['undefined in a list', [1, undefined], 'the answer is not JSON: [1] is undefined'],
  ['no finite number', { n: Number.NaN }, 'the answer is not JSON: .n is NaN'],
  ['a Map', { m: new Map() }, 'the answer is not JSON: .m is an instance of Map'],
  ['a promise', [Promise.resolve(1)], 'the answer is not JSON: [0] is an instance of Promise (await it)'],
  ['an error', new Error('x'), 'the answer is not JSON: it is an instance of Error'],
  ['a cycle', ring, 'the answer is not JSON: .list[1] is an object that contains it (a cycle)'],
  ['a bigint', 1n, 'the answer is not JSON: it is a bigint'],
  ['a symbol', Symbol('x'), 'the answer is not JSON: it is a symbol'],
  ['too much', 'x'.repeat(11e6), 'the answer has 11000002 characters, more than the limit of 10485760'],
])('strictJson() says where %s is', (_case, value, message) => {
  expect(() => strictJson('the answer', value)).toThrow(message);
});
