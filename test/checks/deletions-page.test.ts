import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

const page = readFileSync(join(projectRoot, 'docs/deletions.md'), 'utf8');
const named = [...page.matchAll(/`((?:src|packages|test)\/[^`]+?\.ts) > ([^`]+)`/g)].map(
  ([, file = '', name = '']) => [file, name] as const,
);

test('docs/deletions.md names a test in each row', () => {
  const rows = page.split('\n').filter((line) => /^\| (?!path|-)/.test(line) && !line.startsWith('|--'));
  expect(rows.filter((row) => !/`(?:src|packages|test)\/[^`]+\.ts > /.test(row))).toEqual([]);
});

test.each(named)('%s has the test "%s"', (file, name) => {
  expect(readFileSync(join(projectRoot, file), 'utf8')).toContain(name);
});
