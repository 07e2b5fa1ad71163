import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '../lib/errors.ts';
import type { Hook } from './hook.ts';
import type { HookLoader } from './load-hooks.ts';

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
      `The directory for global hooks ${root} does not exist or is not a directory: create it, or set --global-hooks-dir (GLOBAL_HOOKS_DIR)`,
    );
  }
  const nested = join(root, 'hooks');
  return isDirectory(nested) ? nested : root;
}

/**
 * Loads the global hooks. Their names are relative to the given directory, so a `hooks/` level is part of them: dashboards
 * and alerts written for the original expect `hooks/g.sh`.
 *
 * @throws OperatorError as {@link globalHooksRoot} and `HookLoader.load`
 */
export async function loadGlobalHooks(
  loader: Pick<HookLoader, 'load'>,
  directory: string,
  signal: AbortSignal,
): Promise<readonly Hook[]> {
  const root = globalHooksRoot(directory);
  return await loader.load(root, { type: 'global' }, signal, resolve(directory));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
