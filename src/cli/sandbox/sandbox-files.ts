import { chmodSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { lockDirectory } from '@addon-operator/kube-sandbox';
import { rethrowSandboxError } from './sandbox-failure.ts';
import type { SandboxFiles } from './sandbox-paths.ts';

/**
 * Makes the state directory, for our user only. With `isReset` what sandboxes keep in it is removed first; files of
 * others stay.
 *
 * @throws OperatorError CONFIG_INVALID when the directory cannot be used, INTERNAL when another sandbox uses it
 */
export async function prepareStateDirectory(files: SandboxFiles, isReset: boolean): Promise<void> {
  const { stateDir, apiDir, kubeconfig, log, tmpDir, binDir, debugSocket } = files;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    mkdirSync(apiDir, { recursive: true });
  } catch (cause) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `--state-dir: cannot create the directory ${stateDir} for the state of the sandbox: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (!isReset) return;
  const lock = await lockDirectory(apiDir).catch(rethrowSandboxError);
  try {
    for (const path of [apiDir, kubeconfig, log, `${log}.1`, tmpDir, binDir, debugSocket])
      rmSync(path, { recursive: true, force: true });
    mkdirSync(apiDir);
  } finally {
    await lock.release();
  }
}

/** Removes the directory that only the debug socket was in, because its path would have been too long elsewhere. */
export function removeSocketDirectory({ stateDir, debugSocket }: SandboxFiles): void {
  const directory = dirname(debugSocket);
  if (directory === stateDir) return;
  try {
    rmdirSync(directory);
  } catch {
    // Another sandbox has begun with this state, or the socket is another one.
  }
}

/**
 * Creates directories of modules and hooks that do not exist, so that a sandbox starts in an empty directory, and finds the
 * first file that is added.
 *
 * @returns the directories that were created
 * @throws OperatorError CONFIG_INVALID if one cannot be created
 */
export function createSourceDirectories(directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => {
    try {
      return mkdirSync(directory, { recursive: true }) !== undefined;
    } catch (cause) {
      throw new OperatorError(
        'CONFIG_INVALID',
        `cannot create the directory ${directory}: ${messageOf(cause)}; create it, or name another one with --modules-dir or --global-hooks-dir`,
        { cause },
      );
    }
  });
}

/** Writes the kubeconfig so that readers see the old or the new one, never a part. */
export function writeKubeconfig(path: string, text: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}
