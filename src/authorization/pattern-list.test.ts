import { expect, test } from 'vitest';
import { matchesList } from './keyring.ts';

test.each([
  ['addon-operator-module', true],
  ['git,addon-operator-module', true],
  ['*', true],
  ['addon-*', true],
  ['*-module', true],
  ['addon-*-module', true],
  ['**o*r*module**', true],
  ['addon?operator?module', true],
  ['*,!git', true],
  ['addon-operator-module*', true],
  ['', false],
  ['!git', false],
  ['git,file', false],
  ['*,!addon-*', false],
  ['!addon-*,*', false],
  ['addon-?', false],
  ['addon-operator-module?', false],
  ['Addon-*', false],
  ['addon-* , git', false],
  ['!!addon-*', false],
  ['addon.operator.module', false],
])('the list %j matches our namespace: %j', (list, expected) => {
  expect(matchesList(list, 'addon-operator-module')).toBe(expected);
});

test('a pattern of many stars takes no longer than a short one', () => {
  expect(matchesList('*a'.repeat(500), 'a'.repeat(499))).toBe(false);
});
