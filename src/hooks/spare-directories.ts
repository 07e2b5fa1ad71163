/**
 * A pool of directories for runs, because creating and removing files dominates the time of short hooks. A directory is
 * only reused if the hook left it exactly as it was made; otherwise it is removed.
 */

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';

/** A directory as it was made. */
export interface MadeDirectory {
  readonly inode: number;
  /** Inode number of each file that hooks read, by name. */
  readonly inputs: ReadonlyMap<string, number>;
  /** Inode number of each file that hooks may write, by name. */
  readonly outputs: ReadonlyMap<string, number>;
  /** Descriptors of files that hooks read, by name, to write and empty them without opening them each time. */
  readonly open: Map<string, number>;
}

/** Closes the descriptors of a directory, if there are any; what is written later is opened again. */
export function closeInputs({ open }: Pick<MadeDirectory, 'open'>): void {
  for (const descriptor of open.values()) closeSync(descriptor);
  open.clear();
}

/** In the names of directories that belong to no run. */
export const SPARE_PREFIX = 'spare-';
/**
 * There are never more than runs at the same time, which is the number of queues: a caller that has more than this waits for
 * processors rather than for files.
 */
const MAX_SPARES = 128;
/** More directories than this are spare only after a time with many runs at once: their descriptors are given back. */
const MAX_OPEN_SPARES = 16;
export const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/**
 * Directories of runs that are over, each with nothing in it but empty files. On a disk, creating and removing a file takes
 * many times as long as renaming or truncating it, and longer the more files were removed recently: hooks that run often
 * would spend most of their time on that.
 */
export class SpareDirectories implements Disposable {
  readonly #tmpDir: string;
  readonly #most: number;
  readonly #spares: { readonly path: string; readonly made: MadeDirectory }[] = [];

  /**
   * @param tmpDir where the directories of runs are made
   * @param most how many are kept at the same time
   */
  constructor(tmpDir: string, most = MAX_SPARES) {
    this.#tmpDir = tmpDir;
    this.#most = most;
  }

  /** Moves a spare directory to `path`; undefined when there is none. */
  take(path: string): MadeDirectory | undefined {
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      try {
        renameSync(spare.path, path);
        return spare.made;
      } catch {
        // Another process removed files from the directory for temporary files.
        closeInputs(spare.made);
      }
    }
    return undefined;
  }

  /**
   * Takes over the directory of a run that is over, and empties the files that its hook has read. Returns false unless
   * the files are still there and not replaced, and those for output are empty; the directory is to be removed then.
   *
   * @param outputs the state of the files for output after the run, by name
   */
  give(path: string, made: MadeDirectory, outputs: ReadonlyMap<string, Stats>): boolean {
    if (this.#spares.length >= this.#most || !isAsMade(path, made, outputs)) return false;
    const spare = { path: join(this.#tmpDir, `${SPARE_PREFIX}${process.pid}-${randomUUID()}`), made };
    try {
      // No process of the run is left that could put a link there now.
      for (const name of made.inputs.keys()) empty(made.open.get(name), `${path}/${name}`);
      renameSync(path, spare.path);
    } catch {
      return false;
    }
    if (this.#spares.length >= MAX_OPEN_SPARES) closeInputs(made);
    this.#spares.push(spare);
    return true;
  }

  [Symbol.dispose](): void {
    for (const { path, made } of this.#spares.splice(0)) {
      closeInputs(made);
      rmSync(path, { recursive: true, force: true });
    }
  }
}

function empty(descriptor: number | undefined, path: string): void {
  if (descriptor === undefined) truncateSync(path);
  else ftruncateSync(descriptor);
}

/** Names of the files in a directory that are gone, or others than those it was made with. */
export function replacedFiles(path: string, { inputs, outputs }: MadeDirectory): readonly string[] {
  return [...inputs, ...outputs].flatMap(([name, inode]) => {
    const stats = lstatSync(`${path}/${name}`, { throwIfNoEntry: false });
    return stats !== undefined && isSameFile(stats, inode) ? [] : [name];
  });
}

/** Whether a directory holds the files it was made with, under no other names too, those for output empty, and nothing else. */
function isAsMade(path: string, made: MadeDirectory, outputs: ReadonlyMap<string, Stats>): boolean {
  try {
    const directory = lstatSync(path);
    if (directory.ino !== made.inode || (directory.mode & 0o7777) !== DIRECTORY_MODE) return false;
    if (readdirSync(path).length !== made.inputs.size + made.outputs.size) return false;
    for (const [name, inode] of made.outputs) {
      const stats = outputs.get(name);
      if (stats === undefined || stats.size > 0 || !isSameFile(stats, inode)) return false;
    }
    for (const [name, inode] of made.inputs)
      if (!isSameFile(lstatSync(`${path}/${name}`), inode)) return false;
    return true;
  } catch {
    return false;
  }
}

function isSameFile(stats: Stats, inode: number): boolean {
  return stats.isFile() && stats.ino === inode && stats.nlink === 1 && (stats.mode & 0o7777) === FILE_MODE;
}
