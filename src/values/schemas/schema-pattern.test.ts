import { expect, test } from 'vitest';
import { schemaPattern } from './schema-pattern.ts';

test.each([
  ['^[a-z]+$', 'abc', 'ABC'],
  ['(?i)^[a-z]+$', 'ABC', '1'],
  ['^[[:alpha:]]+$', 'aB', 'a1'],
  ['\\Aab\\z', 'ab', 'ab\n'],
  ['^[\\w\\-\\.]+$', 'a-b.c', 'a b'],
  ['^\\p{L}+$', 'é', '1'],
])('a pattern in the syntax of RE2 means the same: %s', (pattern, match, other) => {
  expect(schemaPattern(pattern).test(match)).toBe(true);
  expect(schemaPattern(pattern).test(other)).toBe(false);
});
