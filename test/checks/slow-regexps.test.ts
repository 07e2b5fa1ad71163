import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { slowPart, slowRegExpProblems } from './slow-regexps.ts';

const src = join(projectRoot, 'src');

test('FAULT-M11: no regular expression of src/ has a shape that backtracks', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  expect(files.flatMap((file) => slowRegExpProblems(file, readFileSync(join(src, file), 'utf8')))).toEqual(
    [],
  );
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
  expect(slowRegExpProblems('a.ts', 'const name: RegExp = /(a+)+$/i;')).toEqual([
    'src/a.ts: /(a+)+$/i repeats (a+), which ends with a and begins with a',
  ]);
});
