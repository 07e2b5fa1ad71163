import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { slowPart, slowRegExpProblems } from './slow-regexps.ts';

test('FAULT-M11: no regular expression of src/ and packages/ has a shape that backtracks', () => {
  for (const directory of ['src', 'packages']) {
    const problems = [...sourcesIn(directory)].flatMap(([file, source]) =>
      slowRegExpProblems(`${directory}/${file}`, source),
    );
    expect(problems).toEqual([]);
  }
});

test.each([
  '(a+)+',
  '^([a-z0-9]+-?)+$',
  '(a|a)*',
  '(?:\\w|\\d)+',
  '(.*,)*',
  '\\s*\\s+x',
  '\\d+\\w*$',
  '(x(?:y*)*)',
  '(\\s*a\\s*)+',
])('FAULT-M11: slowPart() finds %s', (pattern) => {
  expect(slowPart(pattern)).toBeDefined();
});

test.each([
  '(?:-[a-z]+)*',
  '(?:[^"\\\\]|\\\\.)*',
  '\\w+\\s*',
  'a+b+',
  '(?:\\d+(?:ms|[a-z]+)\\s*)+',
  '(?:\\.\\d+)?x*',
])('slowPart() accepts %s', (pattern) => {
  expect(slowPart(pattern)).toBeUndefined();
});

test('slowRegExpProblems() finds a literal in a source, with its file', () => {
  expect(slowRegExpProblems('src/a.ts', 'const name: RegExp = /(a+)+$/i;')).toEqual([
    'src/a.ts: /(a+)+$/i repeats (a+), which ends with a and begins with a',
  ]);
});
