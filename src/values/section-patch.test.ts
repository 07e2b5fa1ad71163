import type { Json } from '@addon-operator/json';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeMs } from '../../test/support/cpu-time.ts';
import { applyPatch } from './apply-patch.ts';
import { foldPatch, type PatchList } from './section-patch.ts';
import type { ValuesOperation } from './values-patch.ts';

const add = (path: string, value: Json): ValuesOperation => ({ op: 'add', path, value });
const remove = (path: string): ValuesOperation => ({ op: 'remove', path });

test.each<{ name: string; patches: ValuesOperation[][]; paths: string[] }>([
  {
    name: 'sorts parents before children',
    patches: [[add('/w/b/c', 1)], [add('/w/a', 1)]],
    paths: ['add /w/a', 'add /w/b/c'],
  },
  {
    name: 'keeps the newest of a path',
    patches: [[add('/w/a', 1)], [remove('/w/a')]],
    paths: ['remove /w/a'],
  },
  {
    name: 'drops what was below an added map',
    patches: [[add('/w/o/k', 1)], [add('/w/o', {})]],
    paths: ['add /w/o'],
  },
  {
    name: 'drops what was below a removed map',
    patches: [[add('/w/o/k', 1)], [remove('/w/o')]],
    paths: ['remove /w/o'],
  },
  {
    name: 'keeps what only starts alike',
    patches: [[add('/w/ok', 1)], [add('/w/o', 1)]],
    paths: ['add /w/o', 'add /w/ok'],
  },
  {
    name: 'keeps children added after their parent',
    patches: [[add('/w/o', {}), add('/w/o/k', 1)]],
    paths: ['add /w/o', 'add /w/o/k'],
  },
  {
    name: 'stores no tests',
    patches: [[add('/w/a', 1), { op: 'test', path: '/w/a', value: 1 }]],
    paths: ['add /w/a'],
  },
  {
    name: 'sorts list items by bytes, not by number',
    patches: [[add('/w/l/2', 1), add('/w/l/10', 1)]],
    paths: ['add /w/l/10', 'add /w/l/2'],
  },
])('foldPatch() $name', ({ patches, paths }) => {
  const list = patches.reduce<PatchList>(foldPatch, []);
  expect(list.map(({ op, path }) => `${op} ${path}`)).toStrictEqual(paths);
});

test('foldPatch() keeps the list as long as the number of paths, however often they are patched', () => {
  let list: PatchList = [];
  for (let round = 0; round < 10_000; round += 1) list = foldPatch(list, [add(`/w/k${round % 10}`, round)]);
  expect(list).toHaveLength(10);
});

test('foldPatch() looks at each operation once, however many there are', () => {
  const operations = Array.from({ length: 50_000 }, (_, index) => add(`/w/node-${index}`, index));
  const startedMs = cpuTimeMs();
  expect(foldPatch(foldPatch([], operations), operations)).toHaveLength(50_000);
  // With a look at all stored ones for each of them it is minutes.
  expect(cpuTimeMs() - startedMs).toBeLessThan(5_000);
});

const path = fc
  .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 })
  .map((keys) => `/w/${keys.join('/')}`);
const operation: fc.Arbitrary<ValuesOperation> = fc.oneof(
  fc.record({ op: fc.constant('add' as const), path, value: fc.constantFrom<Json>({}, 1, { a: {} }) }),
  fc.record({ op: fc.constant('remove' as const), path }),
);

test('foldPatch() gives a list with the effect of all operations one by one', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 8 }), (operations) => {
      let document: ReturnType<typeof applyPatch> = { w: {} };
      let list: PatchList = [];
      for (const one of operations) {
        try {
          document = applyPatch(document, [one], 'strict');
        } catch {
          continue;
        }
        list = foldPatch(list, [one]);
      }
      expect(applyPatch({ w: {} }, list, 'tolerant')).toStrictEqual(document);
    }),
    { numRuns: 500 },
  );
});
