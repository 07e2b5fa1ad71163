import { expect, test } from 'vitest';
import { type MirrorFlags, selectTags } from './mirror-selection.ts';

const TAGS = [
  { tag: '1.0.0', digest: 'a' },
  { tag: 'alpha', digest: 'c' },
  { tag: 'v1.3.0', digest: 'b' },
  { tag: '1.10.0_build.1', digest: 'c' },
  { tag: '2.0.0-rc.1', digest: 'd' },
  { tag: 'stable', digest: 'b' },
  { tag: 'branch', digest: 'e' },
];

test.each<[string, MirrorFlags, readonly string[]]>([
  [
    'all channels and the versions that they name',
    {},
    ['v1.3.0', '1.10.0_build.1', 'alpha', 'stable', 'branch'],
  ],
  ['a channel and its version', { channel: ['stable'] }, ['v1.3.0', 'stable']],
  [
    'a channel and the versions from one on',
    { channel: ['stable'], since: '1.4.0' },
    ['v1.3.0', '1.10.0_build.1', '2.0.0-rc.1', 'stable'],
  ],
  ['a channel that names no version', { channel: ['branch'] }, ['branch']],
  [
    'versions from one on',
    { since: 'v1.3.0' },
    ['v1.3.0', '1.10.0_build.1', '2.0.0-rc.1', 'alpha', 'stable', 'branch'],
  ],
  [
    'everything',
    { all: true },
    ['1.0.0', 'v1.3.0', '1.10.0_build.1', '2.0.0-rc.1', 'alpha', 'stable', 'branch'],
  ],
])('%s is selected', (_, flags, expected) => {
  expect(selectTags(TAGS, flags).map(({ tag }) => tag)).toEqual(expected);
});

test.each<[MirrorFlags, string]>([
  [{ channel: ['stable', 'beta'] }, 'there is no channel beta; the source has 1.0.0, alpha'],
  [{ channel: ['1.0.0'] }, 'there is no channel 1.0.0; the source has'],
  [{ since: 'last week' }, '--since last week: that is not a version such as 1.4.0'],
])('%j is refused', (flags, message) => {
  expect(() => selectTags(TAGS, flags)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
  expect(() => selectTags(TAGS, flags)).toThrow(message);
});

test('a source without channels needs a choice of versions', () => {
  const tags = TAGS.slice(0, 1);
  expect(() => selectTags(tags, {})).toThrow(
    'nothing is selected: choose versions with --since VERSION or --all; the source has 1.0.0',
  );
  expect(() => selectTags([], { all: true })).toThrow('the source has no tags');
});
