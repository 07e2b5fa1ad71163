import { expect, test } from 'vitest';
import { isExtensionFile } from './is-extension-file.ts';

test.each([
  ['pause.ts', true],
  ['pause.mts', true],
  ['pause.js', true],
  ['pause.mjs', true],
  ['latest.ts', true],
  ['pause.cts', false],
  ['pause.json', false],
  ['pause.test.ts', false],
  ['pause.spec.mjs', false],
  ['pause.d.ts', false],
  ['ts', false],
])('isExtensionFile(%s) is %s', (name, expected) => {
  expect(isExtensionFile(name)).toBe(expected);
});
