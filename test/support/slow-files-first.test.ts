import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SLOW, TIDYING } from './slow-files-first.ts';

const ROOT = join(import.meta.dirname, '../..');

test('each slow file that begins early exists, and is named once', () => {
  const named = [...SLOW, ...TIDYING];
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
});
