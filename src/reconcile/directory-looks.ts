import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { DeliveredModules } from '../delivery/delivered-modules.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import { COMMON_VALUES, DECISIVE_ENTRIES, type ModuleEntry } from '../modules/file-set.ts';
import type { CheckedContents } from '../modules/find-modules.ts';
import { entryOf, type Module } from '../modules/module.ts';
import {
  type DirectoryEntry,
  directoryContent,
  isPlace,
  modulePlaces,
  VALUES_FILE,
} from '../modules/modules-directory.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ModuleMemory } from './module-memory.ts';

/**
 * The interval of the checks, in milliseconds. A change counts after two equal results: a volume
 * may be remounted, and files may be half written.
 */
export const LOOK_INTERVAL_MS = 5_000;

export interface DirectoryLooksParts {
  readonly registry: Pick<ModuleRegistry, 'modules' | 'find'>;
  readonly converge: Pick<ConvergeState, 'purge'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
  readonly memory: Pick<ModuleMemory, 'filesOf' | 'names'>;
  /** Checks content of the module store as a whole; undefined without one. */
  readonly store: CheckedContents | undefined;
  /** Modules of sources; undefined without a module store. */
  readonly delivered: Pick<DeliveredModules, 'unavailable'> | undefined;
}

/**
 * Checks the directories of modules while the operator runs. When files of a module are lost, or
 * are back, that module is read again; other changes on disk are ignored. It works with and without
 * a watch on files, because a watch reports neither an unmounted volume nor the return of a link's
 * target.
 */
export class DirectoryLooks {
  readonly #parts: DirectoryLooksParts;
  /** The findings of the last check. */
  #seen: ReadonlyMap<string, string> = new Map();
  /** Modules that were registered at any check. */
  readonly #known = new Set<string>();
  /**
   * The finding with which the files of a refused module were read last, so that they are read once
   * for each change.
   */
  readonly #tried = new Map<string, string>();

  constructor(parts: DirectoryLooksParts) {
    this.#parts = parts;
  }

  /** Checks once. */
  async look(): Promise<void> {
    const { registry, router } = this.#parts;
    const found = new Map<string, string>();
    for (const module of registry.modules) {
      this.#known.add(module.name);
      const finding = await findingOf(module, this.#parts);
      if (finding === undefined) this.#tried.delete(module.name);
      else if (finding !== this.#tried.get(module.name)) found.set(module.name, finding);
    }
    for (const [name, finding] of await this.#returned()) found.set(name, finding);
    const confirmed = [...found].filter(([name, finding]) => this.#seen.get(name) === finding);
    this.#seen = found;
    if (confirmed.length === 0) return;
    for (const [name, finding] of confirmed) this.#tried.set(name, finding);
    const modules = new Set(confirmed.map(([name]) => name));
    // In front: tasks behind it would run with files that are gone. The back-off of a failing head
    // is cut for the same reason.
    router.main.prepend({ type: 'ReloadFiles', saved: [], modules, trigger: FILES_CHANGED });
    router.main.cutDelay();
  }

  /** Modules that had lost their directory and have one again. */
  async #returned(): Promise<ReadonlyMap<string, string>> {
    const { converge, memory, registry, sources } = this.#parts;
    const found = new Map<string, string>();
    const { purge } = converge;
    const before = [...(typeof purge === 'string' ? [] : purge.releases), ...memory.names, ...this.#known];
    const missing = new Set(before.filter((name) => registry.find(name) === undefined));
    if (missing.size === 0) return found;
    for (const { path } of sources.modulesDirectories()) {
      const entries: readonly DirectoryEntry[] = await modulePlaces(path, { defaultOrder: 0 }).catch(
        () => [],
      );
      for (const place of entries.filter(isPlace))
        if (missing.has(place.name) && place.content.type === 'module')
          found.set(place.name, await stampOf(place.path));
    }
    return found;
  }
}

/** Looks at the directories repeatedly until the daemon stops. */
export async function runLooks(
  look: () => Promise<void>,
  intervalMs: number,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(intervalMs, stop);
    try {
      await look();
    } catch (error) {
      log.warn(errorFields(error), 'the directories of modules cannot be looked at');
    }
  }
}

/** The difference to the loaded module; undefined while there is none. */
async function findingOf(
  module: Module,
  { delivered, memory, store }: Pick<DirectoryLooksParts, 'delivered' | 'memory' | 'store'>,
): Promise<string | undefined> {
  const { path, link = path, source, refusal, entries, isRemoved } = module;
  if (isRemoved) return undefined;
  // An authorized module runs from a copy, so its directory does not matter.
  if (source !== undefined && refusal === undefined) return undefined;
  if (refusal?.type === 'unauthorized') return undefined;
  if (refusal !== undefined) {
    // Why content is nowhere is part of what is shown.
    const { reason = '' } = delivered?.unavailable().get(module.name) ?? {};
    return [await stampOf(entryOf(module)), ...(await commonOf(module)), reason].join('\n');
  }
  if (entries === undefined || entries.length === 0) return undefined;
  const atLink = link === path ? undefined : await directoryContent(link);
  if (atLink !== undefined && atLink.type !== 'module') return atLink.problem;
  if (store?.contains(path) === true) return await store.problemOf(path);
  const content = await directoryContent(path);
  if (content.type !== 'module') return content.problem;
  // Before the first run there is no record of the module's files to compare with.
  if (memory.filesOf(module.name) === undefined) return undefined;
  const there: ReadonlySet<string> = new Set([...content.entries, ...(await commonOf(module))]);
  const lost = entries.filter((entry) => DECISIVE_ENTRIES.has(entry) && !there.has(entry));
  return lost.length === 0 ? undefined : `without ${lost.join(', ')}`;
}

/** The entry of the values.yaml beside a module, if it exists. */
async function commonOf(module: Module): Promise<readonly ModuleEntry[]> {
  const path = join(dirname(entryOf(module)), VALUES_FILE);
  return await stat(path).then(
    () => [COMMON_VALUES],
    () => [],
  );
}

/** A fingerprint of all files in a directory, which also changes while files are being written. */
export async function stampOf(path: string): Promise<string> {
  try {
    const names = (await readdir(path, { recursive: true })).toSorted();
    const files = await Promise.all(
      names.map(async (name) => {
        const { size, mtimeMs } = await stat(join(path, name));
        return `${name} ${size} ${mtimeMs}`;
      }),
    );
    return files.join('\n');
  } catch {
    return 'unreadable';
  }
}
