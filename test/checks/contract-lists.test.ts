import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entriesOf, missingTests, type ReadFile, readCheckoutFile, testsOf } from './test-lists.ts';

const testDirectory = join(import.meta.dirname, '..');

async function textsBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  return texts.join('\n');
}

/** Entries of a list without a line `Test:` of their own, and names of tests that do not exist. */
function gaps(list: string, tests: string): string[] {
  return entriesOf(list).flatMap((entry) => {
    const name = /^ {2}Test: (.+)$/m.exec(entry)?.[1];
    if (name === undefined) return [`no test is named for: ${entry.trim()}`];
    return tests.includes(`test('${name}'`) ? [] : [`there is no test named: ${name}`];
  });
}

/** The same for a list whose lines `Test: file > name`, one or more an entry, also name the file. */
async function gapsByFile(list: string, read: ReadFile): Promise<string[]> {
  const found: string[] = [];
  for (const entry of entriesOf(list)) {
    const tests = testsOf(entry);
    if (tests.length === 0) found.push(`no test is named for: ${entry.split('\n', 1)[0]}`);
    found.push(...(await missingTests(tests, read)));
  }
  return found;
}

test('every behaviour in contract-lifecycle.md has a test', async () => {
  const list = await readFile(join(testDirectory, 'contract-lifecycle.md'), 'utf8');
  const tests =
    (await textsBelow(join(testDirectory, 'lifecycle'))) + (await textsBelow(join(testDirectory, 'checks')));
  expect(gaps(list, tests)).toEqual([]);
});

test.each([
  'contract-hooks.md',
  'contract-modules.md',
  'contract-operations.md',
  'contract-flow-hooks.md',
  'contract-reconcile-webhooks.md',
  'contract-extensions.md',
  'contract-deploy-hooks.md',
])('every behaviour in %s has a test', async (name) => {
  const list = await readFile(join(testDirectory, name), 'utf8');
  expect(await gapsByFile(list, readCheckoutFile)).toEqual([]);
});

test.each([
  ['contract-hooks.md', '11.', 81],
  ['contract-hooks.md', '10.', 22],
  ['contract-modules.md', '9.', 19],
  ['contract-modules.md', '10.', 79],
  ['contract-operations.md', '7.', 32],
])('%s has an entry for each row of section %s', async (name, section, rows) => {
  const list = await readFile(join(testDirectory, name), 'utf8');
  const parts = list.split(/^## /m).filter((part) => part.split('\n', 1)[0]?.includes(`(${section}`));
  const numbers = [...parts.join('\n').matchAll(/^- (\d+)\. /gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: rows }, (_, index) => index + 1));
});

test('contract-modules.md has entries for each part of the sections 1 to 8', async () => {
  const list = await readFile(join(testDirectory, 'contract-modules.md'), 'utf8');
  const found = new Set([...list.matchAll(/^- .*\((\d+\.\d+)[;)]/gm)].map(([, part]) => part));
  const sizes = [10, 5, 6, 8, 7, 9, 11, 3];
  const parts = sizes.flatMap((size, section) =>
    Array.from({ length: size }, (_, part) => `${section + 1}.${part + 1}`),
  );
  // ConversionWebhook objects before their release.
  const leftOut = ['7.10'];
  expect(parts.filter((part) => !found.has(part))).toEqual(leftOut);
});

test('gaps() reports an entry without a test', async () => {
  const list = '- One.\n  Test: it exists\n- Two.\n  Test: it does not\n- Three.\n';
  expect(gaps(list, "test('it exists', () => {});")).toEqual([
    'there is no test named: it does not',
    'no test is named for: Three.',
  ]);
});

test('gapsByFile() reports an entry without a test in the file it names', async () => {
  const list = `- One.
  Test: a.ts > it exists
  Test: b.ts > it exists
- Two.
  Test: a.ts > a row
  Test: a.ts > on a line of its own: %s
  Test: a.ts > "it" exists
- Three.
`;
  const text = `test('it exists', () => {});
test.each([
  ['a row', 1],
])(
  'on a line of its own: %s',
  () => undefined,
);
expect('"it" exists');`;
  const read = (file: string) => (file === 'a.ts' ? Promise.resolve(text) : Promise.reject(new Error(file)));
  expect(await gapsByFile(list, read)).toEqual([
    'there is no test in b.ts named: it exists',
    'there is no test in a.ts named: "it" exists',
    'no test is named for: Three.',
  ]);
});
