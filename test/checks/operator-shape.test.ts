import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { shapeProblems, sharedFields } from './operator-shape.ts';

const isOfCentre = (file: string): boolean =>
  /^(?:app|plan|operator|requests|views|reconcile|hook-runs|queues|model)\//.test(file) &&
  !file.endsWith('.test.ts');

test('no part of the operator uses more than twelve others, and none is given the operator late', () => {
  const centre = [...sourcesIn('src')].filter(([file]) => isOfCentre(file));
  expect(centre.length).toBeGreaterThan(50);
  expect(shapeProblems(new Map(centre))).toEqual([]);
});

test('every field of a class of the operator has one writer, its class', () => {
  const centre = [...sourcesIn('src')].filter(([file]) => isOfCentre(file));
  expect(sharedFields(new Map(centre))).toEqual([]);
});

test.each([
  { what: 'a field that can be set', member: 'isOn = false;', names: ['isOn'] },
  { what: 'a field with a type', member: 'names: readonly string[] = [];', names: ['names'] },
  { what: 'a field without a value', member: 'limit: number | undefined;', names: ['limit'] },
  { what: 'a collection', member: 'readonly names = new Set<string>();', names: ['names'] },
  { what: 'a constant', member: 'readonly limit: number;', names: [] },
  { what: 'a private collection', member: 'readonly #names = new Set<string>();', names: [] },
  { what: 'a private field', member: '#isOn = false;', names: [] },
  { what: 'a method', member: 'run(): void {\n    this.#isOn = true;\n  }', names: [] },
])('sharedFields() of $what', ({ member, names }) => {
  const source = `export class A implements B {\n  ${member}\n}\n`;
  expect(sharedFields(new Map([['a.ts', source]]))).toEqual(
    names.map((name) => `a.ts: others can write A.${name}; make it private, with methods`),
  );
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
    what: 'thirteen members that are joined from two types',
    source: `type AParts = {\n  readonly n: () => void;\n} & Whole;\ninterface Whole {\n${members(12)}}\n`,
    problems: ['a.ts: AParts has 13 members, at most 12 may be'],
  },
  {
    what: 'thirteen members, one of them from a type that is extended in part',
    source: `interface AParts extends Pick<Other, 'n' | 'm0'> {\n${members(12)}}\ninterface Other {\n  readonly n: string;\n}\n`,
    problems: ['a.ts: AParts has 13 members, at most 12 may be'],
  },
  {
    what: 'twelve members of two types that share some',
    source: `type AParts = Whole & Omit<Other, 'n'>;\ninterface Whole {\n${members(12)}}\ninterface Other {\n  readonly n: string;\n  readonly m1: number;\n}\n`,
    problems: [],
  },
  {
    what: 'a function that returns the operator',
    source: 'readonly operator: () => Operator | undefined;',
    problems: ['a.ts is given the operator before it exists: create its parts first'],
  },
])('shapeProblems() of $what', ({ source, problems }) => {
  expect(shapeProblems(new Map([['a.ts', source]]))).toEqual(problems);
});
