import { expect, test } from 'vitest';
import {
  labelSelectorProblems,
  snapshotName,
  snapshotPositions,
  snapshotProblems,
} from './binding-checks.ts';

test.each([
  [{ matchLabels: { app: 'web', 'kubernetes.io/name': 'A_b.c-1', empty: '' } }],
  [{ matchLabels: { ['n'.repeat(63)]: 'v'.repeat(63), [`${'d'.repeat(253)}/n`]: 'x' } }],
  [{ matchExpressions: [{ key: 'a.b/c', operator: 'In' as const, values: ['x', ''] }] }],
  [{ matchExpressions: [{ key: '9', operator: 'DoesNotExist' as const }] }],
  [undefined],
])('the selector %j is accepted', (selector) => {
  expect([...labelSelectorProblems(selector)]).toEqual([]);
});

test.each([
  ['', ''],
  ['-a', 'v'],
  ['a_', 'v'],
  ['a b', 'v'],
  ['A.example/name/x', 'v'],
  ['/name', 'v'],
  ['example.com/', 'v'],
  ['Example.com/name', 'v'],
  ['a..b/name', 'v'],
  ['n'.repeat(64), 'v'],
  [`${'d'.repeat(254)}/n`, 'v'],
])('the key %j is refused in both lists', (key, value) => {
  const expected = [expect.stringContaining(`labelSelector is invalid: match`)];
  expect([...labelSelectorProblems({ matchLabels: { [key]: value } })]).toEqual(expected);
  expect([...labelSelectorProblems({ matchExpressions: [{ key, operator: 'Exists' }] })]).toEqual(expected);
});

test.each(['a b', '-a', 'a-', 'ä', 'a/b', 'v'.repeat(64)])(
  'the value %j is refused in both lists',
  (value) => {
    const expected = [expect.stringContaining(`key 'app': '${value}' is not a label value`)];
    expect([...labelSelectorProblems({ matchLabels: { app: value } })]).toEqual(expected);
    expect([
      ...labelSelectorProblems({
        matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x', value] }],
      }),
    ]).toEqual(expected);
  },
);

test('operators and values must fit together', () => {
  expect([
    ...labelSelectorProblems({
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'b', operator: 'Exists', values: ['x'] },
      ],
    }),
  ]).toEqual([
    "labelSelector is invalid: key 'a': In needs values",
    "labelSelector is invalid: key 'b': Exists takes no values",
  ]);
});

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
