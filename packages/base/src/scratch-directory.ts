import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates an empty directory, of which only the user of this process can read anything.
 *
 * @param running removes the directory, with everything in it, when it is disposed of
 * @returns its absolute path
 */
export async function scratchDirectory(running: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'addon-operator-'));
  running.defer(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
