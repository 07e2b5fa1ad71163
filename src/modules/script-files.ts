import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import { canonicalJson } from '../lib/json.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleValues } from '../values/visible-values.ts';
import { isMissingFile } from './missing-file.ts';

/** Paths of what one enabled script reads and writes. */
export type ScriptPaths = Readonly<Record<Kind, string>>;

type Kind = 'values' | 'configValues' | 'result' | 'reason';

/** Names behind that of the module. */
const SUFFIXES: Readonly<Record<Kind, string>> = {
  values: 'module-values.json',
  configValues: 'module-config-values.json',
  result: 'module-enabled-result',
  reason: 'module-enabled-reason',
};
/** Nobody needs more than this of what a script writes. */
const MAX_ANSWER_BYTES = 4_096;

interface MadeFile {
  readonly path: string;
  readonly inode: number;
  /** Type and permissions. */
  readonly mode: number;
}

/**
 * The files of enabled scripts that run one after another, in one directory. Each script finds them under names of its
 * own, but what it only reads, or did not write, is handed on: a filesystem on a disk takes ten times as long to make and
 * remove a file. One that was written is not emptied for the next script either: both that and removing it at once may
 * have to wait for the disk.
 *
 * All but the removal is synchronous: for files this small that costs a tenth of the other way.
 */
export class ScriptFiles {
  readonly #tmpDir: string;
  readonly #isKeeping: boolean;
  #directory: MadeFile | undefined;
  readonly #directories: string[] = [];
  /** What the last script was given; after {@link takeBack}, what the next one can have. */
  readonly #files = new Map<Kind, MadeFile>();

  /**
   * @param tmpDir where the files are made; it exists
   * @param isKeeping leave the files of every script where they are, for debugging
   */
  constructor(tmpDir: string, isKeeping: boolean) {
    this.#tmpDir = tmpDir;
    this.#isKeeping = isKeeping;
  }

  /**
   * Private files for the script of one module: its values, and two empty ones for its answer.
   *
   * @throws OperatorError ENABLED_SCRIPT_FAILED when they cannot be written
   */
  hand(name: ModuleName, visible: VisibleValues): ScriptPaths {
    try {
      return this.#hand(name, visible);
    } catch (cause) {
      throw new OperatorError(
        'ENABLED_SCRIPT_FAILED',
        `Cannot write its files in ${this.#tmpDir}: ${messageOf(cause)}; check the space and permissions there or set --tmp-dir`,
        { cause },
      );
    }
  }

  #hand(name: ModuleName, { values, configValues }: VisibleValues): ScriptPaths {
    const directory = this.#inDirectory();
    const file = (kind: Kind, content: string): string => {
      const path = join(directory, `${name}.${SUFFIXES[kind]}`);
      const spare = this.#files.get(kind);
      if (spare === undefined) return this.#make(kind, path, content);
      renameSync(spare.path, path);
      this.#files.set(kind, { ...spare, path });
      if (content !== '') rewrite(path, content);
      return path;
    };
    return {
      values: file('values', canonicalJson(values)),
      configValues: file('configValues', canonicalJson(configValues)),
      result: file('result', ''),
      reason: file('reason', ''),
    };
  }

  /** To be called when a script has ended. */
  takeBack(): void {
    if (this.#isKeeping) this.#files.clear();
    else if (this.#directory !== undefined && statOf(this.#directory) === undefined) this.#startAnew();
    for (const [kind, file] of this.#files) if (!isReusable(kind, file)) this.#files.delete(kind);
  }

  /** Removes all files, in the background. @throws what the filesystem says */
  async remove(): Promise<void> {
    const directories = this.#directories.splice(0);
    this.#startAnew();
    if (this.#isKeeping) return;
    for (const directory of directories) await rm(directory, { recursive: true, force: true });
  }

  #startAnew(): void {
    this.#directory = undefined;
    this.#files.clear();
  }

  #inDirectory(): string {
    if (this.#directory === undefined) {
      this.#directory = makeDirectory(this.#tmpDir);
      this.#directories.push(this.#directory.path);
    }
    return this.#directory.path;
  }

  #make(kind: Kind, path: string, content: string): string {
    const descriptor = openSync(path, 'wx', 0o600);
    try {
      this.#files.set(kind, madeFile(path, fstatSync(descriptor)));
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    return path;
  }
}

/**
 * The trimmed beginning of what a script wrote into a file; empty if the script removed it.
 *
 * @throws OperatorError ENABLED_SCRIPT_FAILED when something else stands in its place
 */
export function readAnswer(path: string): string {
  let descriptor: number;
  try {
    // A pipe in its place must not hold up the discovery.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissingFile(cause)) return '';
    throw cause;
  }
  try {
    if (!fstatSync(descriptor).isFile())
      throw new OperatorError('ENABLED_SCRIPT_FAILED', `${basename(path)} is no regular file any more`);
    const buffer = Buffer.alloc(MAX_ANSWER_BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer)).trim();
  } finally {
    closeSync(descriptor);
  }
}

/** Named as the directories of hook runs are: a start sweeps what a daemon that was killed has left. */
function makeDirectory(tmpDir: string): MadeFile {
  const path = join(tmpDir, `run-${process.pid}-enabled-${randomUUID()}`);
  mkdirSync(path, { mode: 0o700 });
  return madeFile(path, lstatSync(path));
}

function madeFile(path: string, { ino: inode, mode }: Stats): MadeFile {
  return { path, inode, mode };
}

/** Undefined when something else stands in its place, or other people may read it. */
function statOf({ path, inode, mode }: MadeFile): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.ino === inode && stats.mode === mode ? stats : undefined;
}

/** Whether a script left a file as it was given it, apart from text in the ones that are written anew. */
function isReusable(kind: Kind, file: MadeFile): boolean {
  const stats = statOf(file);
  if (stats?.nlink !== 1) return false;
  return kind === 'values' || kind === 'configValues' || stats.size === 0;
}

/** Not truncated before: that would have the disk wait for the new content. */
function rewrite(path: string, content: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    writeFileSync(descriptor, content);
    const sizeBytes = Buffer.byteLength(content);
    if (fstatSync(descriptor).size > sizeBytes) ftruncateSync(descriptor, sizeBytes);
  } finally {
    closeSync(descriptor);
  }
}
