import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';

const PREFIX = 'run-';

/**
 * Gives `act` an empty directory below `workDir` that only we can read; it is gone afterwards, whatever happens.
 *
 * @throws OperatorError HELM_FAILED when files cannot be written there; what `act` throws else
 */
export async function withRunDirectory<Result>(
  workDir: string,
  act: (directory: string) => Promise<Result>,
): Promise<Result> {
  try {
    const directory = await mkdtemp(join(workDir, PREFIX));
    try {
      return await act(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  } catch (cause) {
    if (!isFileError(cause)) throw cause;
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot write files for a helm run: ${messageOf(cause)}. Check free space and permissions of "${workDir}" (--tmp-dir); will retry.`,
      { cause },
    );
  }
}

/** Whether the operating system refused something to do with files: full, read-only, gone, not ours. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** Removes what runs of a daemon that was killed have left below `workDir`. */
export async function removeLeftovers(workDir: string): Promise<void> {
  const names = (await readdir(workDir)).filter((name) => name.startsWith(PREFIX));
  await Promise.all(names.map((name) => rm(join(workDir, name), { recursive: true, force: true })));
}
