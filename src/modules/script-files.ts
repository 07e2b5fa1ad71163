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
import { rm, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { canonicalJson } from '@addon-operator/json';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleValues } from '../values/visible-values.ts';

/** The paths of the files that one enabled script reads and writes. */
export type ScriptPaths = Readonly<Record<Kind, string>>;

/** Written by scripts; the other files are written for each script. */
type ResponseKind = 'result' | 'reason';
type Kind = 'values' | 'configValues' | ResponseKind;

/** The suffixes after the module's name. */
const SUFFIXES: Readonly<Record<Kind, string>> = {
  values: 'module-values.json',
  configValues: 'module-config-values.json',
  result: 'module-enabled-result',
  reason: 'module-enabled-reason',
};
/** The maximum size of a script's response in bytes; more is cut off. */
const MAX_RESPONSE_BYTES = 4_096;

interface MadeFile {
  readonly path: string;
  readonly inode: number;
  /** Type and permissions. */
  readonly mode: number;
}

/**
 * The files of enabled scripts that run one after another, in one directory. Each script has its
 * own file names, but the files are renamed from script to script: on a disk, creating and removing
 * a file takes many times as long as renaming it. Operations that the next script waits for are
 * synchronous, which for small files takes a tenth of the time; removing and emptying are
 * asynchronous, as they may wait for the disk.
 */
export class ScriptFiles {
  readonly #tmpDir: string;
  readonly #isKeeping: boolean;
  #directory: MadeFile | undefined;
  readonly #directories: string[] = [];
  /**
   * The files of the last script; after {@link takeBack}, those that the next one can use
   * unchanged.
   */
  readonly #files = new Map<Kind, MadeFile>();
  /** Response files that were written and are empty again, by kind. */
  #emptied: Readonly<Record<ResponseKind, MadeFile[]>> = { result: [], reason: [] };

  /**
   * @param tmpDir an existing directory for the files
   * @param isKeeping keeps the files of every script, for debugging
   */
  constructor(tmpDir: string, isKeeping: boolean) {
    this.#tmpDir = tmpDir;
    this.#isKeeping = isKeeping;
  }

  /**
   * Prepares private files for the script of one module: its values, and two empty ones for its
   * response.
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
      const pooled = this.#files.get(kind) ?? (isResponse(kind) ? this.#takeEmptied(kind) : undefined);
      if (pooled === undefined) return this.#make(kind, path, content);
      renameSync(pooled.path, path);
      this.#files.set(kind, { ...pooled, path });
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

  /**
   * Called after a script has ended. Resolves when its response files are empty again; the caller
   * need not wait.
   */
  async takeBack(): Promise<void> {
    if (this.#isKeeping) this.#files.clear();
    // Something else cleaned the directory: begin with a new one.
    else if (this.#directory !== undefined && statOf(this.#directory) === undefined) this.#startAnew();
    const written: Promise<void>[] = [];
    for (const [kind, file] of this.#files) {
      const sizeBytes = ownSizeBytes(file);
      if (sizeBytes === 0 || (sizeBytes !== undefined && !isResponse(kind))) continue;
      this.#files.delete(kind);
      if (sizeBytes !== undefined && isResponse(kind)) written.push(empty(file, this.#emptied[kind]));
    }
    await Promise.all(written);
  }

  /** Removes all files. @throws errors of the file system */
  async remove(): Promise<void> {
    const directories = this.#directories.splice(0);
    this.#startAnew();
    if (this.#isKeeping) return;
    for (const directory of directories) await rm(directory, { recursive: true, force: true });
  }

  #startAnew(): void {
    this.#directory = undefined;
    this.#files.clear();
    this.#emptied = { result: [], reason: [] };
  }

  #takeEmptied(kind: ResponseKind): MadeFile | undefined {
    const file = this.#emptied[kind].shift();
    return file !== undefined && ownSizeBytes(file) === 0 ? file : undefined;
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
 * Reads a response: the trimmed beginning of the file, empty if the script removed it.
 *
 * @throws OperatorError ENABLED_SCRIPT_FAILED if it is no regular file any more
 */
export function readScriptOutput(path: string): string {
  let descriptor: number;
  try {
    // Non-blocking, because a script may have put a pipe in its place.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissingFile(cause)) return '';
    throw cause;
  }
  try {
    if (!fstatSync(descriptor).isFile())
      throw new OperatorError('ENABLED_SCRIPT_FAILED', `${basename(path)} is no longer a regular file`);
    const buffer = Buffer.alloc(MAX_RESPONSE_BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer)).trim();
  } finally {
    closeSync(descriptor);
  }
}

/** The name is that of a hook run's directory: a start removes those that a killed daemon left. */
function makeDirectory(tmpDir: string): MadeFile {
  const path = join(tmpDir, `run-${process.pid}-enabled-${randomUUID()}`);
  mkdirSync(path, { mode: 0o700 });
  return madeFile(path, lstatSync(path));
}

function madeFile(path: string, { ino: inode, mode }: Stats): MadeFile {
  return { path, inode, mode };
}

/** Undefined if it was replaced, has other permissions, or cannot be read. */
function statOf({ path, inode, mode }: MadeFile): Stats | undefined {
  try {
    const stats = lstatSync(path);
    return stats.ino === inode && stats.mode === mode ? stats : undefined;
  } catch {
    return undefined;
  }
}

function isResponse(kind: Kind): kind is ResponseKind {
  return kind === 'result' || kind === 'reason';
}

/** Undefined if it was replaced, or has further hard links: such a file is not reused. */
function ownSizeBytes(file: MadeFile): number | undefined {
  const stats = statOf(file);
  return stats?.nlink === 1 ? stats.size : undefined;
}

async function empty(file: MadeFile, emptied: MadeFile[]): Promise<void> {
  try {
    await truncate(file.path);
    emptied.push(file);
  } catch {
    // Another process removed it; the next script gets a new file.
  }
}

/** Overwrites before truncating: the other order makes the disk wait for the new content. */
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
