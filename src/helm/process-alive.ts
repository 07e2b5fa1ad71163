import { readFileSync } from 'node:fs';

/** Place of the start time in what `/proc/<pid>/stat` says behind the name of the program. */
const START_FIELD = 19;

/**
 * Whether a process of this host exists; one that we may not signal exists too.
 *
 * @param start what {@link processStart} said of it once; another process, or a thread of one, may have its number now
 */
export function isProcessAlive(pid: number, start?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return start === undefined || (processStart(pid) ?? start) === start;
}

/** When a process began, in ticks since the host did, as text; undefined where the system does not tell. */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold anything, brackets and spaces too.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD];
  } catch {
    return undefined;
  }
}
