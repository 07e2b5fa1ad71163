import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from '../../bench/mutants/list.ts';
import { nearestTests, withMutant } from '../../bench/mutants/mutant.ts';
import { projectRoot } from './checkout.ts';

const sourceOf = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');

/** A fault that no parser accepts would be noticed by any test. */
function isTypeScript(text: string): boolean {
  try {
    stripTypeScriptTypes(text);
    return true;
  } catch {
    return false;
  }
}

test.each(MUTANTS)('the faults of $file can be planted', ({ file, mutants, tests = [] }) => {
  const source = sourceOf(file);
  const rejected = mutants.filter((mutant) => {
    const { text } = withMutant(file, source, mutant);
    return text === source || !isTypeScript(text);
  });
  expect(rejected).toEqual([]);
  for (const { breaks } of mutants) expect(breaks).toMatch(/^[A-Z].*\.$/);
  expect(tests.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
});

test('the list has at least 150 faults, none of them twice', () => {
  const all = MUTANTS.flatMap(({ file, mutants }) =>
    mutants.map(({ find, replace }) => JSON.stringify([file, find, replace])),
  );
  expect(all.length).toBeGreaterThanOrEqual(150);
  expect(new Set(all).size).toBe(all.length);
  expect(new Set(MUTANTS.map(({ file }) => file)).size).toBe(MUTANTS.length);
});

test.each([
  ['absent', 'b', 0],
  ['there twice', 'a', 2],
])('withMutant() refuses a text that is %s', (_what, find, count) => {
  const mutant = { find, replace: 'c', breaks: 'Something.' };
  expect(() => withMutant('x.ts', 'a\na', mutant)).toThrow(`stale mutant: x.ts contains ${count} times`);
});

test('withMutant() names the line of the fault', () => {
  const mutant = { find: 'two;', replace: '', breaks: 'Something.' };
  expect(withMutant('x.ts', 'one;\ntwo;\n', mutant)).toEqual({ text: 'one;\n\n', line: 2 });
});

test('nearestTests() are those with the name of the file, those that are named, and then the folder', () => {
  const tests = [
    'a/b.test.ts',
    'a/b.property.test.ts',
    'a/b-c.test.ts',
    'a/d/b.test.ts',
    'a/e.test.ts',
    'f/g.test.ts',
  ];
  expect(nearestTests({ file: 'a/b.ts', tests: ['f'] }, tests)).toEqual({
    own: ['a/b.test.ts', 'a/b.property.test.ts', 'a/b-c.test.ts', 'f/g.test.ts'],
    folder: ['a/e.test.ts'],
  });
});
