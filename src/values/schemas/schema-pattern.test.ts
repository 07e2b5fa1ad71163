import { expect, test } from 'vitest';
import { schemaPattern } from './schema-pattern.ts';

test.each([
  ['^[a-z]+$', 'abc', 'ABC'],
  ['(?i)^[a-z]+$', 'ABC', '1'],
  ['^a(?i)b|^c$', 'aB', 'AB'],
  ['^(?:(?i)a)b$', 'Ab', 'aB'],
  ['^(?i:a)b$', 'Ab', 'aB'],
  ['(?i)^a(?-i)b$', 'Ab', 'aB'],
  ['^(?P<first>a)(?<second>b)$', 'ab', 'a'],
  ['^[[:alpha:]]+$', 'aB', 'a1'],
  ['^[[:^alpha:]_]+$', '1-_', 'a'],
  ['\\Aab\\z', 'ab', 'ab\n'],
  ['^[\\w\\-\\.]+$', 'a-b.c', 'a b'],
  ['^[\\d-z]+$', '1-z', 'a'],
  ['^\\p{L}+$', 'é', '1'],
  ['^\\pL+$', 'é', '1'],
  ['^[^\\pN]+$', 'pN', '1'],
  ['^\\P{^Lu}+$', 'A', 'a'],
  ['^\\p{Greek}+$', 'α', 'a'],
  ['^\\x{61}\\x62\\101$', 'abA', 'x{61}'],
  ['^\\Qa.b\\E+$', 'a.bb', 'axb'],
  ['^[]a]+$', ']a', 'b'],
  ['^[^]a]$', 'b', ']'],
  ['^{a}{2}$', '{a}}', 'aa'],
  ['^\\s$', '\t', '\u{A0}'],
  ['^.$', '\r', '\n'],
  ['(?s)^.$', '\n', ''],
  ['^\\/\\_\\"\\ $', '/_" ', '/_"'],
  ['^.$', '\u{1F600}', 'ab'],
])('a pattern in the syntax of RE2 means the same: %s', (pattern, match, other) => {
  expect(schemaPattern(pattern).test(match)).toBe(true);
  expect(schemaPattern(pattern).test(other)).toBe(false);
});

test.each(['[a', '(a', 'a)', '\\y', '[[:letters:]]', 'a\\', '\\p{Nothing}', '(?x)a', '*'])(
  'what is no pattern is refused: %s',
  (pattern) => {
    expect(() => schemaPattern(pattern)).toThrow(SyntaxError);
  },
);
