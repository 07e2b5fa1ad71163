import { array, assert, boolean, integer, property, record, string, uniqueArray } from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurge, type PurgeFacts, rememberedDirectories } from './purge-guard.ts';

const full = { path: '/modules', modules: ['web'] };
const empty = { path: '/modules', modules: [] };
const other = { path: '/more', modules: ['db'] };

const FACTS: PurgeFacts = {
  missing: ['old'],
  missingOwned: 1,
  present: 1,
  directories: [full],
  remembered: [full],
  areEmptyAllowed: false,
};

test.each<[string, Partial<PurgeFacts>, 'purge' | 'hold']>([
  ['one of two modules is gone', {}, 'purge'],
  ['nothing is to be removed', { missing: [], directories: [empty] }, 'purge'],
  ['the directory that held modules is empty', { directories: [empty] }, 'hold'],
  ['that is allowed', { directories: [empty], areEmptyAllowed: true }, 'purge'],
  ['the directory never held modules', { directories: [empty], remembered: [empty] }, 'purge'],
  [
    'one of two directories is empty',
    { directories: [other, empty], present: 9, remembered: [full, other] },
    'hold',
  ],
  [
    'there is no record, and there are no modules at all',
    { directories: [empty], remembered: undefined },
    'hold',
  ],
  [
    'there is no record, and no release is owned by this operator',
    { directories: [empty], remembered: undefined, missingOwned: 0 },
    'purge',
  ],
  ['there is no record, and there are modules', { remembered: undefined }, 'purge'],
  [
    'another directory is configured, and it is empty',
    { directories: [{ ...empty, path: '/other' }] },
    'hold',
  ],
  [
    'another directory is configured, and it has none of the modules with releases',
    { directories: [other], present: 0 },
    'hold',
  ],
  [
    'another directory is configured, and it has new modules alone, with releases by now',
    { directories: [other], present: 1 },
    'hold',
  ],
  [
    'another directory is configured, and it has one of them',
    { directories: [{ path: '/more', modules: ['web', 'db'] }] },
    'purge',
  ],
  ['a directory was added', { directories: [full, other] }, 'purge'],
  [
    'all directories are empty and no release is owned',
    { directories: [other, empty], missingOwned: 0, remembered: [] },
    'purge',
  ],
  ['no directory is configured any more', { directories: [], present: 0 }, 'hold'],
  ['two of three are gone', { missing: ['a', 'b'] }, 'purge'],
  ['three of three are gone', { missing: ['a', 'b', 'c'], present: 0 }, 'hold'],
  ['half of six are gone', { missing: ['a', 'b', 'c'], present: 3 }, 'purge'],
  ['three of five are gone', { missing: ['a', 'b', 'c'], present: 2 }, 'hold'],
])('decidePurge() when %s', (_case, facts, expected) => {
  expect(decidePurge({ ...FACTS, ...facts }).type).toBe(expected);
});

test('decidePurge() names what is gone', () => {
  expect(decidePurge({ ...FACTS, directories: [empty] })).toEqual({
    type: 'hold',
    reason: '/modules contained modules before and is empty now',
  });
  expect(decidePurge({ ...FACTS, missing: ['a', 'b', 'c'] })).toEqual({
    type: 'hold',
    reason: 'the directories of 3 of 4 modules with releases are gone',
  });
});

test('an empty directory is held at every start, until it is filled or a user decides', () => {
  const facts = { ...FACTS, directories: [empty] };
  const kept = rememberedDirectories(facts, 'hold');
  expect(kept).toEqual([full]);
  expect(decidePurge({ ...facts, remembered: kept }).type).toBe('hold');
  expect(rememberedDirectories({ ...facts, areEmptyAllowed: true }, 'purge')).toEqual([empty]);
  expect(rememberedDirectories({ ...facts, directories: [other] }, 'purge')).toEqual([other]);
  expect(rememberedDirectories({ ...facts, directories: [other] }, 'hold')).toEqual([full]);
});

test('decidePurge() never removes three or more releases that are most of all, nor any of a directory that became empty', () => {
  const facts = record({
    missing: uniqueArray(string({ minLength: 1 })),
    present: integer({ min: 0, max: 5 }),
    isEmpty: boolean(),
    others: array(record({ isEmpty: boolean() }), { maxLength: 2 }),
  });
  assert(
    property(facts, ({ missing, present, isEmpty, others }) => {
      const directories = [{ isEmpty }, ...others].map((one, index) => ({
        path: `/${index}`,
        modules: one.isEmpty ? [] : ['m'],
      }));
      const remembered = directories.map(({ path }) => ({ path, modules: ['m'] }));
      const { type } = decidePurge({
        missing,
        missingOwned: missing.length,
        present,
        directories,
        remembered,
        areEmptyAllowed: false,
      });
      if (type === 'hold') return;
      const all = missing.length + present;
      expect(missing.length === 0 || directories.every(({ modules }) => modules.length > 0)).toBe(true);
      expect(missing.length < 3 || missing.length <= all / 2).toBe(true);
    }),
  );
});
