import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Logger } from '../lib/log.ts';
import type { HookOwner } from './hook.ts';

export interface HookFile {
  readonly name: string;
  readonly path: string;
}

const SKIPPED_EXTENSIONS = ['.yaml', '.json', '.md', '.txt'];
const EXEC_BITS = 0o111;

/**
 * Finds hook executables below a directory, sorted by path as byte strings. Directories named `lib` (for modules also
 * `venv`), names that begin with a dot and data files are skipped; a file without exec permission is skipped with a
 * warning that says how to mend it. A root that does not exist has no hooks.
 */
export async function findHooks(root: string, owner: HookOwner, log: Logger): Promise<readonly HookFile[]> {
  const skipped = owner.type === 'module' ? ['lib', 'venv'] : ['lib'];
  const isSkippedDirectory = (name: string): boolean => name.startsWith('.') || skipped.includes(name);
  if (isSkippedDirectory(basename(root)) || !(await isDirectory(root))) return [];
  const paths: string[] = [];
  await walk(root, isSkippedDirectory, paths, log);
  return paths
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((path) => ({ name: hookName(path, root, owner), path }));
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

async function walk(
  directory: string,
  isSkippedDirectory: (name: string) => boolean,
  found: string[],
  log: Logger,
): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stats = await lstat(path);
    if (stats.isDirectory()) {
      if (!isSkippedDirectory(name)) await walk(path, isSkippedDirectory, found, log);
    } else if (!name.startsWith('.') && !SKIPPED_EXTENSIONS.some((extension) => name.endsWith(extension))) {
      if (stats.isSymbolicLink() && (await isDirectory(path))) {
        log.debug({ path }, 'symlink to a directory among hooks is ignored');
      } else if (!stats.isSymbolicLink() && (stats.mode & EXEC_BITS) === 0) {
        log.warn(
          { path, fix: `chmod +x ${path}` },
          'file in the hooks directory is not executable and is not used as a hook; chmod +x makes it one',
        );
      } else {
        found.push(path);
      }
    }
  }
}

/** Global hooks are named by their path below the root, module hooks from the first `hooks/` in their path. */
function hookName(path: string, root: string, owner: HookOwner): string {
  if (owner.type === 'global') return relative(root, path);
  const start = path.indexOf('/hooks/');
  return start < 0 ? relative(root, path) : path.slice(start + 1);
}
