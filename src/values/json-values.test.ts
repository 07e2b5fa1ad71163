import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { exactJsonProblem, isExactJson, valuesChecksum } from './json-values.ts';

test.each([
  'null',
  '1',
  '-1.5',
  '"x"',
  'true',
  '[1, {"a": [null]}]',
  '9007199254740991',
  `${'['.repeat(100)}${']'.repeat(100)}`,
])('isExactJson() accepts %s', (text) => {
  expect(isExactJson(parseJson(text))).toBe(true);
});

test.each([
  '9007199254740993',
  '[9007199254740993]',
  '{"a": 1e400}',
  '1e300',
  `${'['.repeat(101)}${']'.repeat(101)}`,
])('isExactJson() refuses %s', (text) => {
  expect(isExactJson(parseJson(text))).toBe(false);
});

test('isExactJson() refuses what is no JSON', () => {
  expect(isExactJson(undefined)).toBe(false);
  expect(isExactJson({ a: undefined })).toBe(false);
  expect(isExactJson(10n)).toBe(false);
});

test.each([
  ['{"a":{"b/c~d":[1,9007199254740993]}}', '/web/a/b~1c~0d/1: integers beyond 2^53'],
  ['{"a":1e400}', '/web/a: numbers must be finite'],
  [`${'['.repeat(101)}${']'.repeat(101)}`, `/web${'/0'.repeat(100)}: it is nested deeper than 100 levels`],
])('exactJsonProblem() names the first part of %s that cannot be in values', (text, problem) => {
  expect(exactJsonProblem(parseJson(text), '/web')).toContain(problem);
});

test('valuesChecksum() is the MD5 of compact key-sorted JSON', () => {
  expect(valuesChecksum({})).toBe('99914b932bd37a50b983c5e7c90ae93b');
  expect(valuesChecksum({ b: [1], a: { d: 1, c: null } })).toBe(
    valuesChecksum({ a: { c: null, d: 1 }, b: [1] }),
  );
  expect(valuesChecksum({ l: [1, 2] })).not.toBe(valuesChecksum({ l: [2, 1] }));
});
