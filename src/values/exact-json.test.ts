import { expect, test } from 'vitest';
import { parseJson } from '../lib/json.ts';
import { isExactJson } from './exact-json.ts';

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
