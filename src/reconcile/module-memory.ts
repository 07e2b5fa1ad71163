import { basename } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { codeOf, errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { isObject, parseJson } from '@addon-operator/json';
import {
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import { type FileRecord, type FileSet, nextRecord, readDigests } from '../modules/file-set.ts';
import type { CheckedContents } from '../modules/find-modules.ts';
import { entryOf, type Module } from '../modules/module.ts';

const KEY = 'files';

/** Stores the files of modules outside of the daemon. */
export interface FileSetStore {
  /** @throws what the API client throws */
  read(signal: AbortSignal): Promise<ReadonlyMap<string, FileRecord>>;
  /** @throws what the API client throws */
  write(files: ReadonlyMap<string, FileRecord>, signal: AbortSignal): Promise<void>;
}

/**
 * Stores the files of modules in the ConfigMap `ref`. A record that cannot be parsed counts as
 * missing.
 */
export function fileSetStore(kube: KubeClient, ref: ConfigMapRef): FileSetStore {
  return {
    read: async (signal) => parseFileSets((await readConfigMapData(kube, ref, signal))[KEY]),
    write: (files, signal) =>
      changeConfigMapData(
        kube,
        ref,
        (data) => ({ ...data, [KEY]: JSON.stringify(Object.fromEntries(files)) }),
        signal,
      ),
  };
}

function parseFileSets(text: string | undefined): ReadonlyMap<string, FileRecord> {
  if (text === undefined) return new Map();
  try {
    const value = parseJson(text);
    return new Map(
      Object.entries(isObject(value) ? value : {}).filter((entry): entry is [string, FileRecord] =>
        isFileRecord(entry[1]),
      ),
    );
  } catch {
    return new Map();
  }
}

function isFileRecord(value: unknown): value is FileRecord {
  if (!isObject(value) || !isFileSet(value)) return false;
  const { sinceMs = 0, before, stored = '' } = value;
  return (
    typeof sinceMs === 'number' && typeof stored === 'string' && (before === undefined || isFileSet(before))
  );
}

function isFileSet(value: unknown): value is FileSet {
  return isObject(value) && isListOfStrings(value['entries']) && isListOfStrings(value['digests']);
}

function isListOfStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export interface ModuleMemoryDeps {
  /** Undefined: nothing is kept. */
  readonly store: FileSetStore | undefined;
  /** Directories whose content is checked as a whole; default: none. */
  readonly contents?: CheckedContents | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts the read at the start. */
  readonly stop: AbortSignal;
}

/** How long a stopping daemon tries to write pending changes, in milliseconds. */
export const LAST_WRITE_MS = 5_000;

/**
 * The record of modules that were run and of their files. A daemon that starts without a part of
 * its files has no other way to know that they existed, and would remove their releases. Reads
 * happen once at the start; changes are written in the background, except before the first run of a
 * module.
 */
export class ModuleMemory {
  readonly #deps: ModuleMemoryDeps;
  readonly #files: Map<string, FileRecord>;
  /** Modules, as they were read, whose files are recorded already. */
  readonly #done = new WeakSet<Module>();
  readonly #end = new AbortController();
  /** The number of changes, and how many of them are written. */
  #changes = 0;
  #written = 0;
  #writing: Promise<void> = Promise.resolve();
  /** The next write, which begins after the current one and covers all changes until then. */
  #next: Promise<void> | undefined;

  private constructor(deps: ModuleMemoryDeps, files: ReadonlyMap<string, FileRecord>) {
    this.#deps = deps;
    this.#files = new Map(files);
  }

  /** @throws what the API client throws */
  static async load(deps: ModuleMemoryDeps): Promise<ModuleMemory> {
    return new ModuleMemory(deps, (await deps.store?.read(deps.stop)) ?? new Map());
  }

  /** Modules that were run and not deleted. */
  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  filesOf(module: string): FileRecord | undefined {
    return this.#files.get(module);
  }

  /**
   * Called before a module runs. Resolves when its files are recorded, so that a killed daemon
   * leaves no release without a record. Unchanged files are not written again. Files that were
   * damaged since they were loaded end the run.
   *
   * @throws OperatorError when they cannot be read or written; the reason of the signal
   */
  async remember(module: Module, signal: AbortSignal): Promise<void> {
    const { entries = [], name, path } = module;
    await this.#refuseDamaged(module);
    if (this.#deps.store === undefined || this.#done.has(module)) return;
    try {
      const stored = module.isStored && { stored: basename(entryOf(module)) };
      const files = { entries, digests: await readDigests(path), ...stored };
      const last = this.#files.get(name);
      const record = nextRecord(last, files, this.#deps.clock.wallMs());
      if (record !== last) {
        this.#files.set(name, record);
        this.#changes += 1;
      }
      if (this.#isDirty) await resultOrAbort(this.#save(), signal);
      this.#done.add(module);
    } catch (cause) {
      rethrowAbort(cause, signal);
      const message = `the files of module ${name} cannot be remembered, which comes before its run: ${messageOf(cause)}`;
      throw new OperatorError(codeOf(cause) ?? 'MODULE_INVALID', message, { cause });
    }
  }

  /**
   * Called when a module is deleted, or when a user confirms that files were removed on purpose.
   */
  forget(module: string): void {
    if (!this.#files.delete(module)) return;
    this.#changes += 1;
    // Not awaited: a later write includes the change, at the latest the one in `close`.
    this.#save().catch((error: unknown) => {
      this.#deps.log.warn(errorFields(error), 'it cannot be written for now which modules were deleted');
    });
  }

  /** Writes pending changes, for at most {@link LAST_WRITE_MS}. */
  async close(): Promise<void> {
    const { clock, log } = this.#deps;
    const written = new AbortController();
    const late = clock.sleep(LAST_WRITE_MS, written.signal).then(
      () => this.#end.abort(new OperatorError('ABORTED', 'the daemon is stopping')),
      () => undefined,
    );
    try {
      // Waits for the write in progress: two writers would overwrite each other's record.
      await (this.#next ?? this.#writing.catch(() => undefined));
      if (this.#isDirty) await this.#save();
    } catch (error) {
      log.warn(errorFields(error), 'the daemon stops before it is written which modules were deleted');
    } finally {
      written.abort();
      await late;
    }
  }

  async #refuseDamaged({ name, path, source = path }: Module): Promise<void> {
    const { contents } = this.#deps;
    if (contents?.contains(source) !== true) return;
    const problem = await contents.problemOf(source);
    if (problem === undefined) return;
    const message = `the content ${source} of module ${name} ${problem}: add it to the module store again`;
    throw new OperatorError('STORE_FAILED', message);
  }

  get #isDirty(): boolean {
    return this.#changes !== this.#written;
  }

  /**
   * Resolves when all changes until now are written. Callers during a write share the next one.
   *
   * @throws errors of the API client
   */
  async #save(): Promise<void> {
    this.#next ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#writing = this.#write();
        this.#next = undefined;
        return this.#writing;
      });
    await this.#next;
  }

  async #write(): Promise<void> {
    const { store, log } = this.#deps;
    const changes = this.#changes;
    try {
      await store?.write(this.#files, this.#end.signal);
      // Changes during the request are not written yet, hence the number from before.
      this.#written = changes;
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      log.warn(errorFields(error), 'the files of modules are too many to be remembered');
    }
  }
}

/** A retry cannot make the record smaller, and modules run without it. */
function isTooLarge(error: unknown): boolean {
  return hasStatus(error, 413) || hasStatus(error, 422);
}
