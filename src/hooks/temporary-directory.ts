/** Prepares `--tmp-dir` at the start. */

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { replaceableByOthers, writableByOthers } from '@addon-operator/files/directory-safety';
import { sweepRunFiles } from './run-files.ts';

/**
 * Makes the directory for temporary files, one level of it, and removes what a daemon that died left there.
 *
 * Hooks find their files there, and helm its kubeconfig, so no other user may be able to change what is in it. A parent in
 * which others could replace it is only logged: a volume of a Pod is such a parent, and has no other users.
 *
 * @returns its absolute path
 * @throws OperatorError CONFIG_INVALID when it cannot be made or written to, belongs to another user, or others may write
 *   to it
 */
export function prepareTemporaryDirectory(path: string, log: Logger): string {
  const directory = resolve(path);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      throw unusable(directory, error);
  }
  try {
    const problem = writableByOthers(directory);
    if (problem !== undefined) throw new Error(problem);
    const risk = replaceableByOthers(directory);
    if (risk !== undefined)
      log.info({ directory, risk }, 'other users could replace the temporary directory');
    const removed = sweepRunFiles(directory);
    if (removed > 0)
      log.info({ directory, removed }, 'removed files of hook runs that did not finish cleanly');
  } catch (error) {
    throw unusable(directory, error);
  }
  return directory;
}

function unusable(directory: string, cause: unknown): OperatorError {
  return new OperatorError(
    'CONFIG_INVALID',
    `Cannot use the directory for temporary files ${directory}: ${messageOf(cause)}; set --tmp-dir (ADDON_OPERATOR_TMP_DIR) to a directory that only the user of the daemon can write to, and whose parent exists`,
    { cause },
  );
}
