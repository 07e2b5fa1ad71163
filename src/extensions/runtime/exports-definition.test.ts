import { expect, test } from 'vitest';
import { exportsDefinition, mayExportDefinition } from './exports-definition.ts';

test.each([
  ['a.ts', true],
  ['a.cjs', true],
  ['a.tsx', true],
  ['a.test.ts', false],
  ['a.d.cts', false],
  ['a.json', false],
  ['README.md', false],
])('mayExportDefinition(%s) is %s', (name, expected) => {
  expect(mayExportDefinition(name)).toBe(expected);
});

test.each([
  ['export default defineExtensions({});', true],
  ['const a = defineExtensions (host);\nexport default a;', true],
  ['const a = defineExtensions(host);\nexport { b, a as default };', true],
  ["module.exports = require('addon-operator/sdk').defineExtensions({});", true],
  ['export const extensionsOf = (host) => defineExtensions(host);', false],
  ['export default defineFlowHooks(() => {});', false],
  ['export default undefineExtensions({});', false],
  ['export default { defineExtensions };', false],
])('exportsDefinition() of %j is %s', (text, expected) => {
  expect(exportsDefinition(text, 'defineExtensions')).toBe(expected);
});
