import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson, stringifyJson } from '@addon-operator/json';
import { lockDirectory } from './directory-lock.ts';
import { stringAt, valueAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';
import { messageOf, SandboxError } from './sandbox-error.ts';
import type { SandboxLog } from './sandbox-log.ts';
import type { ChangeLog, StoreChange, StoredEntry, StoreState } from './sandbox-store.ts';

const FILE_NAME = 'state.jsonl';
/** The file is rewritten when it has more than this many bytes of outdated lines, and more than of living ones. */
const MIN_WASTE_BYTES = 4 * 1024 * 1024;

/**
 * Keeps a store on disk: a line for each change, in one file that is rewritten when it has grown too long. The store appends
 * before it reports a change; the next start reads the file to the last whole line. An error of the file system at the
 * start is a {@link SandboxError}, later it fails the request whose change could not be written.
 */
export interface Journal extends ChangeLog {
  /** The state that the file held when it was opened. */
  readonly state: StoreState;
  close(): void;
}

/** A journal that keeps nothing. */
export const memoryJournal: Journal = {
  state: { revision: 0, objects: [] },
  append: () => undefined,
  close: () => undefined,
};

type Line =
  | { readonly type: 'put'; readonly revision: number; readonly entry: StoredEntry }
  | { readonly type: 'remove'; readonly revision: number; readonly storage: string; readonly key: string }
  | { readonly type: 'revision'; readonly revision: number };

/**
 * Opens the journal of a directory, which is made if it is missing. Each change is passed to the operating system
 * before the request that made it is answered, so the end of this process loses nothing; a line that was cut short
 * (by a full disk, by the end of the machine) is dropped.
 *
 * @throws SandboxError when the file cannot be read or written, or is no journal
 */
export function openJournal(directory: string, log: SandboxLog): Journal {
  const path = join(directory, FILE_NAME);
  try {
    mkdirSync(directory, { recursive: true });
    return new FileJournal(path, readLines(path), log);
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause;
    throw new SandboxError(`Cannot keep the sandbox state in ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

class FileJournal implements Journal {
  readonly state: StoreState;
  readonly #path: string;
  readonly #log: SandboxLog;
  readonly #objects = new Map<string, { readonly entry: StoredEntry; readonly sizeBytes: number }>();
  #revision = 0;
  #livingBytes = 0;
  #fileBytes = 0;
  #file: number;

  constructor(
    path: string,
    lines: Iterable<{ readonly line: Line; readonly sizeBytes: number }>,
    log: SandboxLog,
  ) {
    this.#path = path;
    this.#log = log;
    for (const { line, sizeBytes } of lines) this.#take(line, sizeBytes);
    this.state = { revision: this.#revision, objects: [...this.#objects.values()].map(({ entry }) => entry) };
    this.#file = this.#rewrite();
  }

  append(change: StoreChange): void {
    const line = lineOf(change);
    const text = `${stringifyJson(encodeLine(line))}\n`;
    const sizeBytes = Buffer.byteLength(text);
    this.#write(text);
    this.#take(line, sizeBytes);
    this.#fileBytes += sizeBytes;
    const wasteBytes = this.#fileBytes - this.#livingBytes;
    if (wasteBytes > MIN_WASTE_BYTES && wasteBytes > this.#livingBytes) this.#compact();
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Appends a line whole, or leaves the file as it was. */
  #write(text: string): void {
    try {
      writeAll(this.#file, text);
    } catch (error) {
      ftruncateSync(this.#file, this.#fileBytes);
      throw error;
    }
  }

  #take(line: Line, sizeBytes: number): void {
    this.#revision = line.revision;
    if (line.type === 'revision') return;
    const id =
      line.type === 'put' ? `${line.entry.storage} ${line.entry.key}` : `${line.storage} ${line.key}`;
    this.#livingBytes -= this.#objects.get(id)?.sizeBytes ?? 0;
    this.#objects.delete(id);
    if (line.type !== 'put') return;
    this.#objects.set(id, { entry: line.entry, sizeBytes });
    this.#livingBytes += sizeBytes;
  }

  #compact(): void {
    try {
      const file = this.#rewrite();
      closeSync(this.#file);
      this.#file = file;
    } catch (error) {
      this.#log.warn({ error, path: this.#path }, 'sandbox state file not compacted');
    }
  }

  /** Writes the living objects to a new file and puts it in the place of the old one; returns it, open. */
  #rewrite(): number {
    const temporary = `${this.#path}.new`;
    const file = openSync(temporary, 'w', 0o600);
    let fileBytes = 0;
    for (const { entry } of this.#objects.values()) {
      const line: Line = { type: 'put', revision: revisionOf(entry.object), entry };
      fileBytes += writeAll(file, `${stringifyJson(encodeLine(line))}\n`);
    }
    fileBytes += writeAll(
      file,
      `${stringifyJson(encodeLine({ type: 'revision', revision: this.#revision }))}\n`,
    );
    fsyncSync(file);
    renameSync(temporary, this.#path);
    this.#fileBytes = fileBytes;
    return file;
  }
}

function revisionOf(object: ResourceObject): number {
  return Number(object.metadata.resourceVersion ?? 0);
}

function writeAll(file: number, text: string): number {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
  return bytes.length;
}

function lineOf({ type, revision, storage, key, object }: StoreChange): Line {
  if (type === 'removed') return { type: 'remove', revision, storage, key };
  return { type: 'put', revision, entry: { storage, key, object } };
}

function encodeLine(line: Line): unknown {
  switch (line.type) {
    case 'put':
      return {
        rv: line.revision,
        storage: line.entry.storage,
        key: line.entry.key,
        object: line.entry.object,
      };
    case 'remove':
      return { rv: line.revision, storage: line.storage, key: line.key };
    case 'revision':
      return { rv: line.revision };
  }
}

const LINE_END = 10;

/** The lines of a file; what follows the last line end is incomplete, and is left out. */
function* readLines(path: string): Generator<{ readonly line: Line; readonly sizeBytes: number }> {
  const bytes = readBytes(path);
  let start = 0;
  for (let number = 1; ; number += 1) {
    const end = bytes.indexOf(LINE_END, start);
    if (end < 0) return;
    const line = parseLine(bytes.toString('utf8', start, end));
    if (line === undefined)
      throw new SandboxError(
        `Cannot read the sandbox state in ${path}: line ${number} is broken. Delete the file to start afresh`,
      );
    yield { line, sizeBytes: end + 1 - start };
    start = end + 1;
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissingFile(error)) return Buffer.alloc(0);
    throw error;
  }
}

function parseLine(text: string): Line | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const revision = valueAt(value, 'rv');
  if (!isObject(value) || typeof revision !== 'number') return undefined;
  const storage = stringAt(value, 'storage');
  const key = stringAt(value, 'key');
  if (storage === '') return { type: 'revision', revision };
  const object = value['object'];
  if (object === undefined) return { type: 'remove', revision, storage, key };
  return isStoredObject(object) ? { type: 'put', revision, entry: { storage, key, object } } : undefined;
}

/** Objects were checked when they were first written. */
function isStoredObject(value: unknown): value is ResourceObject {
  return isObject(value) && stringAt(value, 'metadata', 'name') !== '' && stringAt(value, 'kind') !== '';
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

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
