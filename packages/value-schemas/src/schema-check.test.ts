import { expect, test } from 'vitest';
import { re2Pattern } from './schema-check.ts';

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
  expect(re2Pattern(pattern).test(match)).toBe(true);
  expect(re2Pattern(pattern).test(other)).toBe(false);
});

test.each([
  '[a',
  '(a',
  'a)',
  '\\y',
  '[[:letters:]]',
  'a\\',
  '\\p{Nothing}',
  '(?x)a',
  '*',
  '(?=a)b',
  '(?!a)',
  '(?<=a)b',
  '(a)\\1',
  'a{1001}',
  'a**',
  '\\u0041',
])('what is no pattern of Go is refused: %s', (pattern) => {
  expect(() => re2Pattern(pattern)).toThrow(SyntaxError);
});

// Timings are no condition here: those of JavaScript would need years.
test.each([
  ['^([a-z0-9]+-?)+$', `${'a'.repeat(100_000)}!`],
  ['(a|a)*b', 'a'.repeat(100_000)],
  ['^(.*)*x$', 'y'.repeat(100_000)],
  ['(?:x?){500}x{500}y', 'x'.repeat(100_000)],
  ['[ab]*a[ab]{200}c', 'ab'.repeat(50_000)],
])('FAULT-M11: a pattern ends in linear time: %s', (pattern, text) => {
  expect(re2Pattern(pattern).test(text)).toBe(false);
});
