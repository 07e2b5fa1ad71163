import { accessSync, constants, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { messageOf } from '@addon-operator/base/errors';
import type { DirectoryFacts, MachineFacts } from './facts.ts';

/** Where the kernel says what is so. */
export interface KernelFiles {
  readonly mounts: string;
  readonly limits: string;
  readonly maxWatches: string;
}

export const KERNEL_FILES: KernelFiles = {
  mounts: '/proc/self/mounts',
  limits: '/proc/self/limits',
  maxWatches: '/proc/sys/fs/inotify/max_user_watches',
};

/**
 * Looks at this machine. Directories are made if they do not exist, as the operator does.
 *
 * @param directories `moduleStore`: undefined without one
 * @param isWatching whether files are watched
 */
export function machineFacts(
  { tmpDir, moduleStore }: { readonly tmpDir: string; readonly moduleStore: string | undefined },
  isWatching: boolean,
  files: KernelFiles = KERNEL_FILES,
): MachineFacts {
  const maxOpenFiles = numberIn(files.limits, /^Max open files\s+(\d+)/m);
  const maxWatches = isWatching ? numberIn(files.maxWatches, /^(\d+)/) : undefined;
  return {
    tmpDir: directoryFacts(tmpDir, files.mounts),
    ...(moduleStore !== undefined && { moduleStore: directoryFacts(moduleStore, files.mounts) }),
    ...(maxOpenFiles === undefined ? {} : { maxOpenFiles }),
    ...(maxWatches === undefined ? {} : { maxWatches }),
  };
}

function directoryFacts(path: string, mounts: string): DirectoryFacts {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return { path, isNoexec: isNoexec(path, textAt(mounts)), freeBytes: bavail * bsize };
  } catch (error) {
    return { path, problem: messageOf(error), isNoexec: false, freeBytes: 0 };
  }
}

/** Whether the file system of a path does not let programs run: the longest mount point above it counts. */
function isNoexec(path: string, mounts: string): boolean {
  const above = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point = '']) => point === '/' || path === point || path.startsWith(`${point}/`))
    .toSorted(([, a = ''], [, b = '']) => a.length - b.length);
  return above.at(-1)?.[3]?.split(',').includes('noexec') ?? false;
}

function numberIn(file: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(textAt(file))?.[1];
  return found === undefined ? undefined : Number(found);
}

function textAt(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
