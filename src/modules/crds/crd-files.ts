import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../../lib/errors.ts';

/**
 * Absolute paths of the files below `crds/` of a module that end in `.yaml`, sorted; those whose name begins with one of
 * `ignoredPrefixes` are left out.
 *
 * @throws OperatorError MODULE_INVALID when the directory cannot be read
 */
export async function findCrdFiles(
  modulePath: string,
  ignoredPrefixes: readonly string[],
): Promise<readonly string[]> {
  const directory = join(modulePath, 'crds');
  if (!existsSync(directory)) return [];
  return (await entriesBelow(directory))
    .filter((entry) => isCrdFile(entry, ignoredPrefixes))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function entriesBelow(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true, recursive: true });
  } catch (cause) {
    throw new OperatorError('MODULE_INVALID', `cannot read ${directory}: ${messageOf(cause)}`, { cause });
  }
}

function isCrdFile(entry: Dirent, ignoredPrefixes: readonly string[]): boolean {
  const isIgnored = ignoredPrefixes.some((prefix) => prefix !== '' && entry.name.startsWith(prefix));
  return !entry.isDirectory() && entry.name.endsWith('.yaml') && !isIgnored;
}
