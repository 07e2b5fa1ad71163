import { expect, test } from 'vitest';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import type { ModuleName } from '../values/module-key.ts';
import { parallelGroups } from './module-tasks.ts';

function module(text: string, order: number, ...requires: readonly string[]) {
  const requirements = requires.map((other) => ({
    name: other as ModuleName,
    version: undefined,
    isOptional: true,
  }));
  return { name: text as ModuleName, order, manifest: { ...NO_MANIFEST, requires: requirements } };
}

test('parallelGroups() keeps modules with one order number together', () => {
  const groups = parallelGroups([
    module('a', 1),
    module('b', 1),
    module('c', 2),
    module('d', 3),
    module('e', 3),
  ]);
  expect(groups.map((group) => group.map(({ name }) => name))).toEqual([['a', 'b'], ['c'], ['d', 'e']]);
});

test('parallelGroups() parts a module from what it requires', () => {
  const groups = parallelGroups([module('a', 1), module('b', 1, 'a'), module('c', 1)]);
  expect(groups.map((group) => group.map(({ name }) => name))).toEqual([['a'], ['b', 'c']]);
  expect(parallelGroups([])).toEqual([]);
});
