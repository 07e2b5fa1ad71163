import { array, assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { SortedKeys } from './sorted-keys.ts';

function keysOf(...keys: readonly string[]): SortedKeys {
  const sorted = new SortedKeys();
  for (const key of keys) sorted.add(key);
  return sorted;
}

test('keys come in order, each once', () => {
  assert(
    property(array(string()), (keys) => {
      const sorted = keysOf(...keys);
      expect(sorted.from('')).toEqual([...new Set(keys)].toSorted());
      expect(sorted.size).toBe(new Set(keys).size);
    }),
  );
});

test('from() starts at a prefix and behind a key', () => {
  const sorted = keysOf('b/2', 'a/1', 'b/1', 'c/1', 'b/3');
  expect(sorted.from('b/')).toEqual(['b/1', 'b/2', 'b/3']);
  expect(sorted.from('b/', 'b/1')).toEqual(['b/2', 'b/3']);
  expect(sorted.from('b/', 'b/15')).toEqual(['b/2', 'b/3']);
  expect(sorted.from('b/', 'a/1')).toEqual(['b/1', 'b/2', 'b/3']);
  expect(sorted.from('', 'c/1')).toEqual([]);
});

test('countPrefix() counts, delete() takes out', () => {
  const sorted = keysOf('a/1', 'b/1', 'b/2');
  sorted.delete('b/1');
  sorted.delete('none');
  expect(sorted.countPrefix('b/')).toBe(1);
  expect(sorted.countPrefix('z/')).toBe(0);
});
