import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { isMissingFile } from '../lib/missing-file.ts';
import type { Module } from './module.ts';
import { parseDirectoryName } from './module-name.ts';

/** The file beside modules that is none. */
export const VALUES_FILE = 'values.yaml';

/** Where a module lies, and what the name of its directory says. */
export type ModulePlace = Pick<Module, 'name' | 'order' | 'path'>;

/**
 * The modules in a directory, in the order of their directories' names; nothing in them is looked at.
 *
 * @throws OperatorError MODULE_INVALID for a name that cannot be a module's
 */
export async function modulePlaces(
  dir: string,
  { defaultOrder, log }: { readonly defaultOrder: number; readonly log: Logger },
): Promise<readonly ModulePlace[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const places: ModulePlace[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === VALUES_FILE) continue;
    const path = await moduleDirectory(dir, entry, log);
    if (path === undefined) continue;
    const { name, order = defaultOrder } = parseName(entry.name, dir);
    places.push({ name, order, path });
  }
  return places;
}

/** The real path of a module; undefined, with a warning, for everything that is no directory. */
async function moduleDirectory(dir: string, entry: Dirent, log: Logger): Promise<string | undefined> {
  const path = join(dir, entry.name);
  if (entry.isDirectory()) return path;
  if (!entry.isSymbolicLink()) {
    log.warn({ path }, 'not a directory, so not a module: ignored');
    return undefined;
  }
  try {
    const target = await realpath(path);
    if ((await stat(target)).isDirectory()) return target;
    log.warn({ path, target }, 'Symlink target is not a directory. Ignoring module');
  } catch (error) {
    if (!isMissingFile(error)) {
      throw new OperatorError('MODULE_INVALID', `cannot follow symlink '${path}': ${messageOf(error)}`, {
        cause: error,
      });
    }
    log.warn({ path }, 'Symlink target does not exist. Ignoring module');
  }
  return undefined;
}

function parseName(directoryName: string, dir: string): ReturnType<typeof parseDirectoryName> {
  try {
    return parseDirectoryName(directoryName);
  } catch (cause) {
    throw new OperatorError('MODULE_INVALID', `${join(dir, directoryName)}: ${messageOf(cause)}`, { cause });
  }
}
