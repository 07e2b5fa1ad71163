import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { faultsOf, promisesOf, type TestedClaim, taggedTests, unlistedTags } from './promises.ts';
import { missingTests, readCheckoutFile } from './test-lists.ts';

const root = join(import.meta.dirname, '../..');
/** How many faults each group of the list has at least; more may be added at its end. */
const FAULTS = {
  A: 28,
  B: 5,
  C: 23,
  D: 17,
  E: 30,
  F: 12,
  G: 17,
  H: 13,
  I: 9,
  J: 14,
  K: 16,
  L: 8,
  M: 24,
  N: 12,
};

async function claims(): Promise<readonly TestedClaim[]> {
  const [faults, promises] = await Promise.all([
    readCheckoutFile('test/faults.md'),
    readCheckoutFile('docs/promises.md'),
  ]);
  return [...faultsOf(faults), ...promisesOf(promises)];
}

async function testFiles(): Promise<string[]> {
  const found: string[] = [];
  for (const directory of ['src', 'packages', 'test']) {
    const entries = await readdir(join(root, directory), { withFileTypes: true, recursive: true });
    for (const entry of entries) {
      const file = relative(root, join(entry.parentPath, entry.name));
      if (entry.isFile() && file.endsWith('.test.ts') && !file.startsWith('test/checks/')) found.push(file);
    }
  }
  return found;
}

test('faults.md has every fault of the catalogue once, in order', async () => {
  const ids = faultsOf(await readCheckoutFile('test/faults.md')).map((fault) => fault.id);
  const groups = Object.groupBy(ids, (id) => id[0] ?? '');
  for (const [group, least] of Object.entries(FAULTS)) {
    const found = groups[group] ?? [];
    const count = Math.max(least, found.length);
    expect(found).toEqual(Array.from({ length: count }, (_, index) => `${group}${index + 1}`));
  }
});

test('promises.md has every promise once, in order', async () => {
  const ids = promisesOf(await readCheckoutFile('docs/promises.md')).map((promise) => promise.id);
  expect(ids).toEqual(Array.from({ length: 31 }, (_, index) => `P${index + 1}`));
});

test('every fault and every promise names its tests, or the reason for none', async () => {
  const bare = (await claims()).filter((claim) => claim.tests.length === 0 && claim.untested === undefined);
  expect(bare.map((claim) => claim.id)).toEqual([]);
});

test('the tests that faults and promises name exist', async () => {
  const tests = (await claims()).flatMap((claim) => claim.tests);
  expect(await missingTests(tests, readCheckoutFile)).toEqual([]);
});

test('every test that is tagged with a fault or a promise is listed there', async () => {
  const byId = new Map((await claims()).map((claim) => [claim.id, claim]));
  const unlisted: string[] = [];
  for (const file of await testFiles())
    unlisted.push(...unlistedTags(file, taggedTests(await readCheckoutFile(file)), byId));
  expect(unlisted).toEqual([]);
});

test('taggedTests() finds tags in names and in comments above', () => {
  const text = `
  // FAULT-A1, A2; P3
  test('one', () => {});
  // FAULT-B4
  test.each([
    ['row', 1],
  ])('two of %s', () => {});
  // A1 is no tag without its word
  test('three', () => {});
  test(
    'P2, FAULT-J14: four',
    () => {},
  );`;
  expect(taggedTests(text)).toEqual([
    { name: 'P2, FAULT-J14: four', ids: ['P2', 'J14'] },
    { name: 'one', ids: ['A1', 'A2', 'P3'] },
    { name: 'two of %s', ids: ['B4'] },
  ]);
});

test('unlistedTags() reports a tag that the list lacks, and a test that its entry lacks', () => {
  const listed: TestedClaim = { id: 'A1', tests: [{ file: 'a.ts', name: 'one' }], untested: undefined };
  const tests = [
    { name: 'one', ids: ['A1', 'A2'] },
    { name: 'two', ids: ['A1'] },
  ];
  expect(unlistedTags('a.ts', tests, new Map([['A1', listed]]))).toEqual([
    'a.ts: the test "one" is tagged A2, which does not list it',
    'a.ts: the test "two" is tagged A1, which does not list it',
  ]);
});
