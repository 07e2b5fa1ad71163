import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { isValuesJson, valuesChecksum, valuesJsonProblem } from './json-values.ts';

test.each([
  'null',
  '1',
  '-1.5',
  '"x"',
  'true',
  '[1, {"a": [null]}]',
  '9007199254740991',
  '[9007199254740993]',
  '1e300',
  `${'['.repeat(100)}${']'.repeat(100)}`,
])('isValuesJson() accepts %s', (text) => {
  expect(isValuesJson(parseJson(text))).toBe(true);
});

test.each(['{"a": 1e400}', `${'['.repeat(101)}${']'.repeat(101)}`])('isValuesJson() refuses %s', (text) => {
  expect(isValuesJson(parseJson(text))).toBe(false);
});

test('isValuesJson() refuses what is no JSON', () => {
  expect(isValuesJson(undefined)).toBe(false);
  expect(isValuesJson({ a: undefined })).toBe(false);
  expect(isValuesJson(10n)).toBe(false);
});

test.each([
  ['{"a":{"b/c~d":[1,1e999]}}', '/web/a/b~1c~0d/1: numbers must be finite'],
  ['{"a":1e400}', '/web/a: numbers must be finite'],
  [`${'['.repeat(101)}${']'.repeat(101)}`, `/web${'/0'.repeat(100)}: it is nested deeper than 100 levels`],
])('valuesJsonProblem() names the first part of %s that cannot be in values', (text, problem) => {
  expect(valuesJsonProblem(parseJson(text), '/web')).toContain(problem);
});

test('valuesChecksum() is the MD5 of compact key-sorted JSON', () => {
  expect(valuesChecksum({})).toBe('99914b932bd37a50b983c5e7c90ae93b');
  expect(valuesChecksum({ b: [1], a: { d: 1, c: null } })).toBe(
    valuesChecksum({ a: { c: null, d: 1 }, b: [1] }),
  );
  expect(valuesChecksum({ l: [1, 2] })).not.toBe(valuesChecksum({ l: [2, 1] }));
});
