import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Those that exist; undefined before the first one. */
let existing: Set<string> | undefined;

/**
 * Creates an empty directory, of which only the user of this process can read anything. It is also removed when the process
 * exits before `running` is disposed of, as at a second signal.
 *
 * @param running removes the directory, with everything in it, when it is disposed of
 * @returns its absolute path
 */
export async function scratchDirectory(running: AsyncDisposableStack): Promise<string> {
  existing ??= removedAtExit();
  const directories = existing;
  const directory = await mkdtemp(join(tmpdir(), 'addon-operator-'));
  directories.add(directory);
  running.defer(async () => {
    await rm(directory, { recursive: true, force: true });
    directories.delete(directory);
  });
  return directory;
}

function removedAtExit(): Set<string> {
  const directories = new Set<string>();
  process.once('exit', () => {
    for (const directory of directories) {
      try {
        rmSync(directory, { recursive: true, force: true });
      } catch {
        // A process that was started may still write there, and the others are removed all the same.
      }
    }
  });
  return directories;
}
