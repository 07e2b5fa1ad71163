import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

const rows = readFileSync(join(projectRoot, 'docs/errors.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('docs/errors.md lists exactly the error codes, in the same order', () => {
  expect(rows.map(([, code]) => code)).toEqual(ERROR_CODES.map((code) => `\`${code}\``));
});

test('docs/errors.md has the meaning and an advice for each code', () => {
  expect(
    rows.filter(([, , meaning, advice]) => meaning === '' || advice === '' || advice === undefined),
  ).toEqual([]);
});

test('the error codes are sorted and unique', () => {
  expect([...new Set(ERROR_CODES)].toSorted()).toEqual([...ERROR_CODES]);
});
