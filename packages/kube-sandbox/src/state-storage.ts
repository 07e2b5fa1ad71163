import { lockDirectory } from './directory-lock.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { type Journal, memoryJournal, openJournal } from './store-journal.ts';

/** The journal of a sandbox and the claim on its directory. */
export interface StateStorage {
  readonly journal: Journal;
  close(): Promise<void>;
}

/**
 * Opens the state of a directory for this process alone; without directory the state is kept in memory only.
 *
 * @throws SandboxError
 */
export async function openStateStorage(
  directory: string | undefined,
  log: SandboxLog,
): Promise<StateStorage> {
  if (directory === undefined) return { journal: memoryJournal, close: () => Promise.resolve() };
  const lock = await lockDirectory(directory);
  try {
    const journal = openJournal(directory, log);
    return {
      journal,
      close: () => {
        journal.close();
        return lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}
