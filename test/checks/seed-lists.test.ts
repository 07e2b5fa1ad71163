import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const testDirectory = join(import.meta.dirname, '..');

async function textsBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  return texts.join('\n');
}

/** Entries of a list without a line `Test:` of their own, and names of tests that do not exist. */
function gaps(list: string, tests: string): string[] {
  const entries = list.split(/^- /m).slice(1);
  return entries.flatMap((entry) => {
    const name = /^ {2}Test: (.+)$/m.exec(entry)?.[1];
    if (name === undefined) return [`no test is named for: ${entry.trim()}`];
    return tests.includes(`test('${name}'`) ? [] : [`there is no test named: ${name}`];
  });
}

test('every behaviour in seed-003.md has a test', async () => {
  const list = await readFile(join(testDirectory, 'seed-003.md'), 'utf8');
  const tests =
    (await textsBelow(join(testDirectory, 'lifecycle'))) + (await textsBelow(join(testDirectory, 'checks')));
  expect(gaps(list, tests)).toEqual([]);
});

test('an entry without a test is found', () => {
  const list = '- One.\n  Test: it exists\n- Two.\n  Test: it does not\n- Three.\n';
  expect(gaps(list, "test('it exists', () => {});")).toEqual([
    'there is no test named: it does not',
    'no test is named for: Three.',
  ]);
});
