import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** A directory as it was made, with files that hooks may write. */
export interface MadeDirectory {
  readonly inode: number;
  /** Inode number of each file, by name. */
  readonly files: ReadonlyMap<string, number>;
}

/** In the names of directories that belong to no run. */
export const SPARE_PREFIX = 'spare-';
/** About as many as queues that often run hooks at the same time. */
const MAX_SPARES = 8;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/**
 * Directories of runs that are over, each with nothing in it but empty files to write into. On a disk it takes many
 * times as long to make and remove a file as to rename it, the more so the more files were removed of late: hooks that
 * run often would spend most of their time on that.
 */
export class SpareDirectories implements Disposable {
  readonly #tmpDir: string;
  readonly #spares: { readonly path: string; readonly made: MadeDirectory }[] = [];

  /** @param tmpDir where the directories of runs are made */
  constructor(tmpDir: string) {
    this.#tmpDir = tmpDir;
  }

  /** Moves a spare directory to `path`; undefined when there is none. */
  take(path: string): MadeDirectory | undefined {
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      try {
        renameSync(spare.path, path);
        return spare.made;
      } catch {
        // Somebody tidied up in the directory for temporary files.
      }
    }
    return undefined;
  }

  /**
   * Takes over the directory of a run that is over. Returns false, and leaves the directory as it is, unless its files
   * are still there, empty and not replaced.
   *
   * @param found what its files were after the run, by name
   */
  give(path: string, made: MadeDirectory, found: ReadonlyMap<string, Stats>): boolean {
    if (this.#spares.length >= MAX_SPARES || !isAsMade(path, made, found)) return false;
    const spare = { path: join(this.#tmpDir, `${SPARE_PREFIX}${process.pid}-${randomUUID()}`), made };
    try {
      renameSync(path, spare.path);
    } catch {
      return false;
    }
    this.#spares.push(spare);
    return true;
  }

  [Symbol.dispose](): void {
    for (const { path } of this.#spares.splice(0)) rmSync(path, { recursive: true, force: true });
  }
}

/** Whether a directory holds the files it was made with, empty, under no other names too, and nothing else. */
function isAsMade(path: string, { inode, files }: MadeDirectory, found: ReadonlyMap<string, Stats>): boolean {
  try {
    const directory = lstatSync(path);
    if (directory.ino !== inode || (directory.mode & 0o7777) !== DIRECTORY_MODE) return false;
    if (readdirSync(path).length !== files.size) return false;
    for (const [name, fileInode] of files) {
      const stats = found.get(name);
      if (!stats?.isFile() || stats.ino !== fileInode || stats.size > 0 || stats.nlink !== 1) return false;
      if ((stats.mode & 0o7777) !== FILE_MODE) return false;
    }
    return true;
  } catch {
    return false;
  }
}
