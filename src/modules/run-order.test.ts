import { expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import type { Module } from './module.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { inRunOrder } from './run-order.ts';

const name = (text: string): ModuleName => text as ModuleName;

type Ordered = Pick<Module, 'name' | 'order' | 'manifest' | 'refusal'>;

/** `<order>-<name>` to the names it requires, those with a question mark optionally. */
function modulesOf(modules: Readonly<Record<string, readonly string[]>>): readonly Ordered[] {
  return Object.entries(modules).map(([directory, requires]) => ({
    name: name(directory.replace(/^\d+-/, '')),
    order: Number.parseInt(directory, 10),
    manifest: {
      ...NO_MANIFEST,
      requires: requires.map((text) => ({
        name: name(text.replace('?', '')),
        version: undefined,
        isOptional: text.endsWith('?'),
      })),
    },
  }));
}

function order(modules: Readonly<Record<string, readonly string[]>>): string {
  return inRunOrder(modulesOf(modules))
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

/** Names of refused modules in run order, with the reason. */
function refused(...args: Parameters<typeof modulesOf>): readonly string[] {
  return inRunOrder(modulesOf(...args)).flatMap(({ name: refusedName, refusal }) =>
    refusal === undefined ? [] : [`${refusedName}: ${refusal.reason}`],
  );
}

const IN_CYCLE = 'modules require each other in a cycle:';

test('inRunOrder() refuses the modules of a cycle and those that require them, and no others', () => {
  const modules = { '1-a': ['b'], '2-b': ['c'], '3-c': ['b'], '4-d': [], '5-e': ['a'], '6-f': ['d'] };
  expect(refused(modules)).toEqual(['b', 'c', 'a', 'e'].map((text) => `${text}: ${IN_CYCLE} b -> c -> b`));
  expect(order(modules)).toBe('d f b c a e');
  expect(refused({ '1-a': ['a'], '2-b': [] })).toEqual([`a: ${IN_CYCLE} a -> a`]);
  expect(refused({ '1-a': ['b', 'c'], '2-b': ['a'], '3-c': ['d'], '4-d': ['c'] })).toEqual([
    `a: ${IN_CYCLE} a -> b -> a`,
    `b: ${IN_CYCLE} a -> b -> a`,
    `c: ${IN_CYCLE} c -> d -> c`,
    `d: ${IN_CYCLE} c -> d -> c`,
  ]);
});

test('inRunOrder() keeps a module that requires one of a cycle optionally', () => {
  expect(refused({ '1-a': ['b?'], '2-b': ['b'] })).toEqual([`b: ${IN_CYCLE} b -> b`]);
  expect(order({ '1-a': ['b?'], '2-b': ['b'] })).toBe('b a');
});

test('inRunOrder() decides anew which modules are part of a cycle, and keeps other refusals', () => {
  const [first, ...others] = inRunOrder(modulesOf({ '1-a': ['b'], '2-b': ['a'] }));
  const mended = [{ ...first, manifest: NO_MANIFEST } as Ordered, ...others];
  expect(inRunOrder(mended).map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  const gone = { type: 'gone', lost: 'directory', reason: 'gone', remedy: 'restore it' } as const;
  const kept = inRunOrder(modulesOf({ '1-a': ['a'] }).map((module) => ({ ...module, refusal: gone })));
  expect(kept[0]?.refusal).toBe(gone);
});
