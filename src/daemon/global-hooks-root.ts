import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '../lib/errors.ts';

/**
 * Where global hooks lie: in `hooks/` below the given directory if there is one, else in the directory itself.
 *
 * @throws OperatorError CONFIG_INVALID when the directory does not exist
 */
export function globalHooksRoot(directory: string): string {
  const root = resolve(directory);
  if (!isDirectory(root)) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `The directory for global hooks ${root} does not exist or is no directory: create it, or set --global-hooks-dir (GLOBAL_HOOKS_DIR)`,
    );
  }
  const nested = join(root, 'hooks');
  return isDirectory(nested) ? nested : root;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
