import { expect, test } from 'vitest';
import { canTakeOwnership, parseHelmVersion } from './find-helm.ts';

test.each([
  ['v3.17.3', { version: '3.17.3', major: 3, minor: 17 }],
  ['3.19.5\n', { version: '3.19.5', major: 3, minor: 19 }],
  ['v4.1.4+g12', { version: '4.1.4+g12', major: 4, minor: 1 }],
  ['v3.14.0-rc.1', { version: '3.14.0-rc.1', major: 3, minor: 14 }],
  ['v3.19', { version: '3.19', major: 3, minor: 19 }],
  ['v3.20+unreleased', { version: '3.20+unreleased', major: 3, minor: 20 }],
  ['v3.19-rc.1+gabc.dirty', { version: '3.19-rc.1+gabc.dirty', major: 3, minor: 19 }],
  ['v4.0-alpha.1', { version: '4.0-alpha.1', major: 4, minor: 0 }],
  ['v4', { version: '4', major: 4, minor: 0 }],
])('parseHelmVersion() reads %j', (output, expected) => {
  expect(parseHelmVersion('/bin/helm', output)).toEqual({ path: '/bin/helm', ...expected });
});

test.each([
  'v2.17.0',
  'v3.13.3',
  'v3.13',
  'v3',
  'v3.19.',
  'v3.x',
  'v5.0.0',
  'v3.19.0 and more',
  'version.BuildInfo{}',
  '',
])('parseHelmVersion() refuses %j', (output) => {
  expect(parseHelmVersion('/bin/helm', output)).toBeUndefined();
});

test('canTakeOwnership() is true from 3.17 on', () => {
  const versions = ['v3.16.4', 'v3.17.0', 'v4.0.0'].map((version) => parseHelmVersion('/bin/helm', version));
  expect(versions.map((helm) => helm && canTakeOwnership(helm))).toEqual([false, true, true]);
});
