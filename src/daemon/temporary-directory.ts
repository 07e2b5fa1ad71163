import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { sweepRunFiles } from '../hooks/run-files.ts';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';

/**
 * Makes the directory for temporary files, one level of it, and removes what a daemon that died left there.
 *
 * @returns its absolute path
 * @throws OperatorError CONFIG_INVALID when it cannot be made or written to
 */
export function prepareTemporaryDirectory(path: string, log: Logger): string {
  const directory = resolve(path);
  try {
    mkdirSync(directory, { mode: 0o777 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      throw unusable(directory, error);
  }
  try {
    const removed = sweepRunFiles(directory);
    if (removed > 0) log.info({ directory, removed }, 'removed files of hook runs that did not end orderly');
  } catch (error) {
    throw unusable(directory, error);
  }
  return directory;
}

function unusable(directory: string, cause: unknown): OperatorError {
  return new OperatorError(
    'CONFIG_INVALID',
    `Cannot use the directory for temporary files ${directory}: ${messageOf(cause)}; set --tmp-dir (ADDON_OPERATOR_TMP_DIR) to a writable directory whose parent exists`,
    { cause },
  );
}
