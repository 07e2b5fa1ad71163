import { expect, test } from 'vitest';
import { highestIn, isChannel, taggedVersions, versionOfTag } from './version-tags.ts';

test.each([
  ['1.2.3', '1.2.3'],
  ['v1.2.3', '1.2.3'],
  ['1.2.3_build.5', '1.2.3+build.5'],
  ['1.2.3-rc.1', '1.2.3-rc.1'],
  ['1.2.3-rc.1_b', '1.2.3-rc.1+b'],
  ['1.2', undefined],
  ['vv1.2.3', undefined],
  ['stable', undefined],
  ['latest', undefined],
  ['1.2.3_a_b', undefined],
  ['01.2.3', undefined],
  ['1.2.3.sig', undefined],
])('versionOfTag() reads %s as %s', (tag, version) => {
  expect(versionOfTag(tag)).toBe(version);
});

const HEX = '0'.repeat(64);

test.each([
  ['stable', true],
  ['1.2', true],
  ['1.2.3', false],
  [`sha256-${HEX}`, false],
  [`sha256-${HEX}.sig`, false],
  ['web.att', false],
  ['web.sbom', false],
])('isChannel() of %s is %s', (tag, expected) => {
  expect(isChannel(tag)).toBe(expected);
});

const TAGS = ['stable', '1.4.0', 'v1.4.2', '1.4.2', '1.5.0-rc.1', '1.10.0', '2.0.0', `sha256-${HEX}.sig`];

test.each([
  ['~1.4', '1.4.2'],
  ['^1', '1.10.0'],
  ['*', '2.0.0'],
  ['^1.5.0-rc.0 <1.6', '1.5.0-rc.1'],
  ['~1.5', undefined],
  ['>=3', undefined],
])('highestIn() finds in %s the version %s', (range, version) => {
  expect(highestIn(TAGS, range)?.version).toBe(version);
});

test('taggedVersions() sorts the highest first', () => {
  expect(taggedVersions(TAGS).map(({ tag }) => tag)).toEqual([
    '2.0.0',
    '1.10.0',
    '1.5.0-rc.1',
    '1.4.2',
    'v1.4.2',
    '1.4.0',
  ]);
});
