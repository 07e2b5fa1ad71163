import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isObject, parseJson } from '@addon-operator/json';
import {
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { type FileSet, readDigests } from '../modules/file-set.ts';
import type { Module } from '../modules/module.ts';

const KEY = 'files';

/** Keeps the files of modules where they outlive the daemon. */
export interface FileSetStore {
  /** @throws what the API client throws */
  read(signal: AbortSignal): Promise<ReadonlyMap<string, FileSet>>;
  /** @throws what the API client throws */
  write(files: ReadonlyMap<string, FileSet>, signal: AbortSignal): Promise<void>;
}

/** Keeps the files of modules in the ConfigMap `ref`. A record that cannot be parsed counts as missing. */
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

function parseFileSets(text: string | undefined): ReadonlyMap<string, FileSet> {
  if (text === undefined) return new Map();
  try {
    const value = parseJson(text);
    return new Map(
      Object.entries(isObject(value) ? value : {}).filter((entry): entry is [string, FileSet] =>
        isFileSet(entry[1]),
      ),
    );
  } catch {
    return new Map();
  }
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
  readonly log: Logger;
  readonly stop: AbortSignal;
}

/**
 * What is remembered of modules that have run successfully: that they exist, and which files they had. A daemon that
 * starts without a part of its files can tell from nothing else that they were there.
 */
export class ModuleMemory {
  readonly #deps: ModuleMemoryDeps;
  readonly #files: Map<string, FileSet>;
  /** Modules as they were read whose files are remembered already. */
  readonly #done = new WeakSet<Module>();
  /** Files that are being read: what they add is written together. */
  readonly #notes = new Set<Promise<void>>();
  #isDirty = false;
  #writing: Promise<void> | undefined;

  private constructor(deps: ModuleMemoryDeps, files: ReadonlyMap<string, FileSet>) {
    this.#deps = deps;
    this.#files = new Map(files);
  }

  /** @throws what the API client throws */
  static async load(deps: ModuleMemoryDeps): Promise<ModuleMemory> {
    return new ModuleMemory(deps, (await deps.store?.read(deps.stop)) ?? new Map());
  }

  /** Modules that have run successfully, and were not deleted since. */
  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  filesOf(module: string): FileSet | undefined {
    return this.#files.get(module);
  }

  /** Called when a module has run successfully. Its files are kept in the background, once for each time they were read. */
  remember(module: Module): void {
    if (this.#deps.store === undefined || this.#done.has(module)) return;
    this.#done.add(module);
    const note = this.#note(module).finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  /** Called when a module is deleted, or a person confirms that files of it were removed on purpose. */
  forget(module: string): void {
    if (this.#files.delete(module)) this.#save();
  }

  /** Resolves when everything is kept, or cannot be for now. */
  async idle(): Promise<void> {
    await Promise.all(this.#notes);
    await this.#writing;
  }

  async #note(module: Module): Promise<void> {
    const { entries = [], name, path } = module;
    try {
      const files = { entries, digests: await readDigests(path) };
      if (JSON.stringify(files) === JSON.stringify(this.#files.get(name))) return;
      this.#files.set(name, files);
      this.#save();
    } catch (error) {
      this.#done.delete(module);
      this.#deps.log.warn(
        { module: name, ...errorFields(error) },
        'the files of the module cannot be remembered',
      );
    }
  }

  #save(): void {
    this.#isDirty = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    const { store, log, stop } = this.#deps;
    while (this.#isDirty && !stop.aborted) {
      await Promise.all(this.#notes);
      this.#isDirty = false;
      try {
        await store?.write(this.#files, stop);
      } catch (error) {
        if (stop.aborted) return;
        // The next module that succeeds writes it again.
        log.warn(errorFields(error), 'the files of modules cannot be remembered');
      }
    }
  }
}
