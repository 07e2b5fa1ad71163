import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askBuiltin } from './ask-jq.ts';
import { differencesTable, JQ_DIFFERENCES } from './differences.ts';

const ask = askBuiltin();

test.each(JQ_DIFFERENCES)('the engine differs from others as the table says: $topic', async (row) => {
  expect(await ask(row.program, row.input)).toBe(row.responses['built-in']);
});

test('the README ends with the differences from jq 1.8', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  expect(readme.endsWith(`\n\n${differencesTable(['built-in', 'jq 1.8'])}\n`)).toBe(true);
});
