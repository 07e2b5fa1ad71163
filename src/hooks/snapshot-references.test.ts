import { expect, test } from 'vitest';
import { snapshotName, snapshotPositions, snapshotProblems } from './snapshot-references.ts';

const SOURCES = [{ name: 'pods', group: 'g' }, {}, { name: 'nodes' }, { name: '', group: 'g' }];

test('a binding without a name goes by kubernetes', () => {
  expect(SOURCES.map(snapshotName)).toEqual(['pods', 'kubernetes', 'nodes', 'kubernetes']);
});

test.each([
  [['pods', 'nodes'], []],
  [['nope'], ["includeSnapshotsFrom: 'nope' binding name not found"]],
  [['kubernetes'], ["includeSnapshotsFrom: there are 2 'kubernetes' binding names"]],
  [undefined, []],
])('snapshotProblems() of %j', (names, expected) => {
  const user = names === undefined ? {} : { includeSnapshotsFrom: names };
  expect([...snapshotProblems(user, SOURCES)]).toEqual(expected);
});

test('included bindings come first, then those of the group, none of them twice', () => {
  expect(
    snapshotPositions({ includeSnapshotsFrom: ['nodes', 'pods', 'nodes'], group: 'g' }, SOURCES),
  ).toEqual([2, 0, 3]);
});

test.each([{}, { group: '' }, { group: 'other' }])('%j gets no snapshots', (user) => {
  expect(snapshotPositions(user, SOURCES)).toEqual([]);
});
