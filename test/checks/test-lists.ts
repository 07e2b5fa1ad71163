import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Gives the text of a file of the checkout; rejects when there is none. */
export type ReadFile = (file: string) => Promise<string>;

/** Reads files of this checkout by their path from its root. */
export function readCheckoutFile(file: string): Promise<string> {
  return readFile(join(root, file), 'utf8');
}

/** A test that a list names: its file, by the path from the root of the checkout, and its full name. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** The entries of a Markdown list with their continuation lines, without the dash. */
export function entriesOf(list: string): string[] {
  return list.split(/^- /m).slice(1);
}

/** The tests in the lines `Test: file > name` of an entry. */
export function testsOf(entry: string): NamedTest[] {
  return [...entry.matchAll(/^ {2}Test: (\S+) > (.+)$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));
}

/** One message for each named test that its file does not have. */
export async function missingTests(tests: readonly NamedTest[], read: ReadFile): Promise<string[]> {
  const missing: string[] = [];
  for (const { file, name } of tests) {
    const text = await read(file).catch(() => '');
    if (!isNamedIn(text, name)) missing.push(`there is no test in ${file} named: ${name}`);
  }
  return missing;
}

/** Whether a test, or a row of a table of tests, has this name. */
function isNamedIn(text: string, name: string): boolean {
  return [`'${name}'`, `"${name}"`].some((literal) => {
    const escaped = literal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(String.raw`[([]\s*${escaped}[,\]]`).test(text);
  });
}
