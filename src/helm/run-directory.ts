import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'run-';

/** Gives `act` an empty directory below `workDir` that only we can read; it is gone afterwards, whatever happens. */
export async function withRunDirectory<Result>(
  workDir: string,
  act: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(workDir, PREFIX));
  try {
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Removes what runs of a daemon that was killed have left below `workDir`. */
export async function removeLeftovers(workDir: string): Promise<void> {
  const names = (await readdir(workDir)).filter((name) => name.startsWith(PREFIX));
  await Promise.all(names.map((name) => rm(join(workDir, name), { recursive: true, force: true })));
}
