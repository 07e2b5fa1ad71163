import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { sharedFields } from './shared-fields.ts';

const isOfCentre = (file: string): boolean =>
  /^(?:app|plan|operator|requests|views|reconcile|hook-runs|queues|model)\//.test(file);

test('every field of a class of the operator has one writer, its class', () => {
  const centre = [...sourcesIn('src')].filter(([file]) => isOfCentre(file));
  expect(centre.length).toBeGreaterThan(50);
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
  { what: 'a method', member: 'run(): void {\n    this.#isOn = true;\n  }\n  #isOn = false;', names: [] },
])('sharedFields() of $what', ({ member, names }) => {
  const source = `export class A implements B {\n  ${member}\n}\n`;
  expect(sharedFields(new Map([['a.ts', source]]))).toEqual(
    names.map((name) => `a.ts: others can write A.${name}; make it private, with methods`),
  );
});
