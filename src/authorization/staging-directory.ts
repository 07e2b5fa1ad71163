/** Creates the directory of verified copies, and refuses one that other users could write to or replace. */

import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { replaceableByOthers, writableByOthers } from '@addon-operator/files/directory-safety';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { isProcessAlive } from '@addon-operator/process/process-alive';

const PREFIX = 'run-';
const OWNED = /^run-(?<pid>\d+)-/u;

/**
 * Makes an empty directory below `path`, which is created if missing, that no other user can enter or
 * replace. Directories of daemons that are no longer alive are removed.
 *
 * @param modulesDirs none of which may hold it: copies would be taken for modules, and for changes of their files
 * @returns its absolute path
 * @throws OperatorError CONFIG_INVALID where others could change what is in it
 */
export async function makeStagingDirectory(path: string, modulesDirs: readonly string[]): Promise<string> {
  const parent = resolve(path);
  try {
    refuseInside(
      parent,
      modulesDirs.map((directory) => resolve(directory)),
    );
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const problem = writableByOthers(parent) ?? replaceableByOthers(parent);
    if (problem !== undefined) throw new Error(problem);
    refuseInside(await realpath(parent), await Promise.all(modulesDirs.map(realPathOf)));
    for (const name of await readdir(parent)) {
      const pid = Number(OWNED.exec(name)?.groups?.['pid']);
      // Our own number on a directory that exists already: in a container every daemon has the same one.
      if (Number.isNaN(pid) || (pid !== process.pid && isProcessAlive(pid))) continue;
      await rm(join(parent, name), { recursive: true, force: true });
    }
    return await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  } catch (cause) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `--auth-staging-dir (AUTH_STAGING_DIR) ${parent}: ${messageOf(cause)}; set it to a directory outside of the modules directories that only the user of the daemon can write to`,
      { cause },
    );
  }
}

/** Without links; a directory that does not exist has none. */
async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch (error) {
    if (isMissingFile(error)) return resolve(directory);
    throw error;
  }
}

function refuseInside(path: string, modulesDirs: readonly string[]): void {
  const directory = modulesDirs.find((each) =>
    `${path}${sep}`.startsWith(each === sep ? sep : `${each}${sep}`),
  );
  if (directory !== undefined) throw new Error(`it is inside the modules directory ${directory}`);
}
