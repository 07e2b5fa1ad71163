import { expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { inRunOrder } from './run-order.ts';

const name = (text: string): ModuleName => text as ModuleName;

/** `<order>-<name>` to the names it requires. */
function order(modules: Readonly<Record<string, readonly string[]>>): string {
  const list = Object.entries(modules).map(([directory, requires]) => ({
    name: name(directory.replace(/^\d+-/, '')),
    order: Number.parseInt(directory, 10),
    manifest: {
      ...NO_MANIFEST,
      requires: requires.map((text) => ({ name: name(text), version: undefined, isOptional: false })),
    },
  }));
  return inRunOrder(list)
    .map((module) => module.name)
    .join(' ');
}

test('inRunOrder() sorts by number, then by name', () => {
  expect(order({ '20-a': [], '10-c': [], '10-b': [], '1-d': [] })).toBe('d b c a');
});

test('inRunOrder() moves a module just behind what it requires', () => {
  expect(order({ '1-web': ['db'], '2-dns': [], '50-db': [], '60-last': [] })).toBe('dns db web last');
  expect(order({ '1-web': ['db'], '2-api': ['web'], '50-db': [], '60-last': [] })).toBe('db web api last');
});

test('inRunOrder() passes over requirements of modules that do not exist', () => {
  expect(order({ '1-web': ['missing'], '2-dns': [] })).toBe('web dns');
});

test('inRunOrder() names the modules of a cycle', () => {
  expect(() => order({ '1-a': ['b'], '2-b': ['c'], '3-c': ['b'], '4-d': [] })).toThrow(
    'modules require each other in a cycle: b -> c -> b;',
  );
  expect(() => order({ '1-a': ['a'] })).toThrow('a -> a');
});
