import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { OWN_CODE } from '../own-code.ts';
import { DocsSearch, sectionsOf } from './search-docs.ts';

/** Names below docs/ with their contents. */
export type DocsPages = readonly (readonly [page: string, text: string])[];

/** The pages of the checkout, or those that were built into the program, in the order of their names. */
export async function readDocs(): Promise<DocsPages> {
  return await pagesIn(fileURLToPath(new URL('../docs', OWN_CODE))).catch(builtPages);
}

/** An index of all sections. */
export async function indexDocs(): Promise<DocsSearch> {
  return new DocsSearch((await readDocs()).flatMap(([page, text]) => sectionsOf(page, text)));
}

async function builtPages(): Promise<DocsPages> {
  const built = fieldsOf(parseJson(await readFile(new URL('docs.json', OWN_CODE), 'utf8')));
  return Object.entries(built).map(([page, text]) => [page, String(text)]);
}

async function pagesIn(directory: string): Promise<DocsPages> {
  const names = await readdir(directory, { recursive: true });
  const pages = names.filter((name) => name.endsWith('.md')).toSorted();
  return await Promise.all(
    pages.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
  );
}
