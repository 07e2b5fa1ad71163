import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const MEMORY_FILES = '/dev/shm';
const NAME = /^addon-op-(\d+)$/;
/** `TMPFS_MAGIC` of statfs(2). */
const TMPFS = 0x01_02_19_94;
/** The gate has up to 3 GB of files at once, and its processes take 6 GB. */
const NEEDED_BYTES = 12 * 2 ** 30;

/**
 * A directory in memory for the temporary files of a test run, which is removed when this process ends; undefined where
 * there is none or little memory. Tests make and remove some hundred thousand small files: on a disk the file system takes a
 * sixth of the CPU time of the gate, most of it to find numbers for new files that no removed file has just had.
 */
export function makeMemoryDirectory(parent = MEMORY_FILES): string | undefined {
  if (!isMemory(parent) || freemem() < NEEDED_BYTES) return undefined;
  removeLeft(parent);
  const directory = join(parent, `addon-op-${process.pid}`);
  mkdirSync(directory);
  // As that for all temporary files: some tests run programs as another user.
  chmodSync(directory, 0o1777);
  process.on('exit', () => {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // A process still writes there: the next run removes it.
    }
  });
  return directory;
}

/** Whether files there are in memory, may be executed, and have room. */
function isMemory(parent: string): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(parent);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [, , , options = 'noexec'] =
      mounts.findLast((line) => line.split(' ')[1] === parent)?.split(' ') ?? [];
    return type === TMPFS && bavail * bsize >= NEEDED_BYTES && !options.split(',').includes('noexec');
  } catch {
    return false;
  }
}

/** Of runs that were killed. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
