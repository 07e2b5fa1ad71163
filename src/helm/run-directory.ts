import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Gives `act` an empty directory below `workDir` that only we can read; it is gone afterwards, whatever happens. */
export async function withRunDirectory<Result>(
  workDir: string,
  act: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(workDir, 'run-'));
  try {
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
