import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import {
  exportsDefinition,
  isExtensionFile,
  mayExportDefinition,
  warnOfMissingDirectory,
} from './extension-files.ts';

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

test('only a directory that is set and missing is warned of, with its flag', () => {
  const { logger, records } = new CapturedLog(systemClock);
  const missing = join(import.meta.dirname, 'missing');
  for (const directory of ['', import.meta.dirname, missing])
    warnOfMissingDirectory(directory, '--flow-hooks-dir', logger);
  expect(records).toMatchObject([{ level: 'warn', flag: '--flow-hooks-dir', directory: missing }]);
});

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
