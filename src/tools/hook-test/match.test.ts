import { pathText } from '@addon-operator/json/shape';
import { expect, test } from 'vitest';
import { checkPattern, mismatches } from './match.ts';

const jq = (program: string, value: unknown): Promise<readonly unknown[]> =>
  Promise.resolve([program === '.replicas > 1' && (value as { replicas: number }).replicas > 1]);

async function placesOf(pattern: unknown, actual: unknown): Promise<readonly string[]> {
  return (await mismatches(pattern, actual, jq)).map(({ path }) => pathText(path));
}

test.each([
  ['a value', 1, 1],
  ['a part of a mapping', { a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }],
  ['null for what is absent', { a: null, b: null }, { b: null }],
  ['a list', [1, { a: 2 }], [1, { a: 2, b: 3 }]],
  ['a part of a string', { $contains: 'bc' }, 'abcd'],
  ['an item of a list', { $contains: { a: 1 } }, [{ a: 2 }, { a: 1, b: 1 }]],
  ['a regular expression', { $matches: '^-+BEGIN' }, '-----BEGIN CERTIFICATE-----'],
  ['what is absent', { a: { $absent: true } }, {}],
  ['any value', { a: { $any: true } }, { a: 0 }],
  ['exactly a mapping, keys in any order', { $exact: { a: 1, b: 2 } }, { b: 2, a: 1 }],
  ['a list in any order', { $unordered: [{ a: 1 }, 2] }, [2, { a: 1, b: 1 }]],
  ['what base64 stands for', { $base64: { $contains: 'cret' } }, Buffer.from('secret').toString('base64')],
  ['a jq program', { $jq: '.replicas > 1' }, { replicas: 2 }],
  ['two conditions', { $contains: 'a', $matches: 'b$' }, 'ab'],
])('a pattern matches %s', async (_name, pattern, actual) => {
  expect(await mismatches(pattern, actual, jq)).toEqual([]);
});

test.each([
  ['another value', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b']],
  ['a value of another type', { a: { b: 1 } }, { a: 'x' }, ['a']],
  ['an absent value', { a: 1 }, {}, ['a']],
  ['a value that must be absent', { a: null }, { a: 0 }, ['a']],
  ['each item that differs', [1, 2, 3], [0, 2, 0], ['[0]', '[2]']],
  ['a longer list', { a: [1] }, { a: [1, 2] }, ['a']],
  ['a string without the part', { a: { $contains: 'x' } }, { a: 'abc' }, ['a']],
  ['a list without the item', { $contains: 1 }, [2], ['']],
  ['a number for a regular expression', { a: { $matches: '1' } }, { a: 1 }, ['a']],
  ['further keys of an exact mapping', { $exact: { a: 1 } }, { a: 1, b: 2 }, ['']],
  ['an item too much', { $unordered: [1] }, [1, 1], ['']],
  ['what base64 does not stand for', { a: { $base64: 'x' } }, { a: 'eQ==' }, ['a']],
  ['a jq program that says no', { $jq: '.replicas > 1' }, { replicas: 1 }, ['']],
  ['a key of the prototype', { constructor: { $any: true } }, {}, ['constructor']],
])('a pattern does not match %s', async (_name, pattern, actual, places) => {
  expect(await placesOf(pattern, actual)).toEqual(places);
});

test('a list of another length is reported with both lists', async () => {
  expect(await mismatches([1], [1, 2], jq)).toEqual([
    { path: [], expected: [1], actual: [1, 2], message: '2 items instead of 1' },
  ]);
});

test.each([
  [{ a: { $contain: 1 } }, 'a.$contain: unknown condition (did you mean "$contains"?)'],
  [{ $contains: 1, b: 2 }, 'b: cannot be beside $contains'],
  [{ $matches: '(' }, '$matches: is not a regular expression'],
  [{ $matches: 1 }, '$matches: must be a string'],
  [{ $jq: 1 }, '$jq: must be a string'],
  [{ $absent: false }, '$absent: must be true'],
  [[{ $unordered: 1 }], '[0].$unordered: must be a list'],
])('a condition that cannot be used is reported: %j', (pattern, problem) => {
  const problems: string[] = [];
  checkPattern(pattern, [], (path, message) => problems.push(`${pathText(path)}: ${message}`));
  expect(problems).toEqual([expect.stringContaining(problem)]);
});
