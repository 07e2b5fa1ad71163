import { open, readFile, rm } from 'node:fs/promises';
import type { Clock } from '@addon-operator/base/clock';

const POLL_MS = 500;

export interface BuildLockOptions {
  readonly clock: Clock;
  /** Called once, when another process holds the lock. */
  readonly onWait?: (holderPid: number) => void;
}

/**
 * Runs `task` while holding the lock file `path`, so that two test runs do not build the same program twice. A lock
 * whose holder is gone is taken over. It saves work only: what is built appears by rename, so losing it does no harm.
 */
export async function withBuildLock<T>(
  path: string,
  options: BuildLockOptions,
  task: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let isTold = false;
  while (!(await tryLock(path))) {
    const holderPid = await holderOf(path);
    if (holderPid !== undefined && isAlive(holderPid)) {
      if (!isTold) options.onWait?.(holderPid);
      isTold = true;
      await options.clock.sleep(POLL_MS, signal);
    } else await rm(path, { force: true });
  }
  try {
    return await task();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) ? undefined : pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
