import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { shapeProblems } from './operator-shape.ts';

const isOfCentre = (file: string): boolean =>
  /^(?:app|operator|plan)\//.test(file) && !file.endsWith('.test.ts');

test('no part of the operator uses more than twelve others, and none is given the operator late', () => {
  const centre = [...sourcesIn('src')].filter(([file]) => isOfCentre(file));
  expect(centre.length).toBeGreaterThan(50);
  expect(shapeProblems(new Map(centre))).toEqual([]);
});

const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `  readonly m${index}: number;\n`).join('');

test.each([
  { what: 'twelve members', source: `export interface AParts {\n${members(12)}}\n`, problems: [] },
  {
    what: 'thirteen members',
    source: `export interface AParts extends BParts {\n${members(13)}}\n`,
    problems: ['a.ts: AParts has 13 members, at most 12 may be'],
  },
  {
    what: 'thirteen members of an intersection',
    source: `type AOptions = {\n${members(13)}} & BParts;\n`,
    problems: ['a.ts: AOptions has 13 members, at most 12 may be'],
  },
  {
    what: 'a function that returns the operator',
    source: 'readonly operator: () => Operator | undefined;',
    problems: ['a.ts is given the operator before it exists: create its parts first'],
  },
])('shapeProblems() of $what', ({ source, problems }) => {
  expect(shapeProblems(new Map([['a.ts', source]]))).toEqual(problems);
});
