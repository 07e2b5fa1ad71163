import { readdir, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import type { DeliveredModules } from '../delivery/delivered-modules.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { PendingUpdates } from '../model/pending-updates.ts';
import type { ModuleSources } from '../model/services.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import type { ModuleStore } from '../module-store/module-store.ts';
import { entryOf, filesOf, type Module } from '../modules/module.ts';
import {
  type DirectoryEntry,
  isPlace,
  type ModulePlace,
  modulePlaces,
} from '../modules/modules-directory.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { stampOf } from './directory-looks.ts';

/** How long after a refusal an update is tried again although nothing has changed, in milliseconds. */
export const RETRY_MS = 60_000;

export interface ModuleRescanParts {
  readonly registry: Pick<ModuleRegistry, 'modules' | 'find'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
  readonly updates: Pick<PendingUpdates, 'clear'>;
  readonly values: Pick<ValuesStore, 'configValues'>;
  /** Undefined without a module store. */
  readonly store: Pick<ModuleStore, 'contains' | 'currentDir' | 'removedModules'> | undefined;
  /** Modules of sources; undefined without a module store. */
  readonly delivered: Pick<DeliveredModules, 'isInstalled'> | undefined;
  readonly clock: Clock;
}

/** A difference between a modules directory and the loaded modules. */
interface Finding {
  /** Changes with everything that may make a refused update acceptable. */
  readonly stamp: string;
  /** Whether the files are complete already: a link is switched when they are. */
  readonly isAtomic: boolean;
}

interface Tried {
  readonly stamp: string;
  readonly atMs: number;
}

/**
 * Finds what has changed in the modules directories: links with another target, new modules,
 * modules that were removed from the module store. Each such module is queued to be read again. A
 * link counts at once; a new directory counts when its files did not change between two searches.
 * Files that are edited in a directory are not looked at.
 */
export class ModuleRescan {
  readonly #parts: ModuleRescanParts;
  #listing = '';
  /** New directories, as they were at the last search. */
  #growing: ReadonlyMap<string, string> = new Map();
  /** The task that was queued for a module last. */
  readonly #tried = new Map<string, Tried>();

  constructor(parts: ModuleRescanParts) {
    this.#parts = parts;
  }

  /** Searches once. */
  async rescan(): Promise<void> {
    const { delivered, store } = this.#parts;
    const noted = [...((await store?.removedModules()) ?? [])];
    const removed = new Set(noted.filter((name) => delivered?.isInstalled(name) !== true));
    const listing = [...(await this.#list()), ...removed].join('\n');
    // Entries as before, and nothing that is to be looked at again: mostly that is all.
    if (listing === this.#listing && this.#growing.size === 0 && this.#tried.size === 0) return;
    this.#listing = listing;
    const found = await this.#find(removed);
    const growing = new Map<string, string>();
    const ready: string[] = [];
    for (const [name, finding] of found) {
      if (!this.#mayTry(name, finding)) continue;
      if (finding.isAtomic || this.#growing.get(name) === finding.stamp) ready.push(name);
      else growing.set(name, finding.stamp);
    }
    this.#growing = growing;
    this.#forget(found);
    if (ready.length === 0) return;
    const atMs = this.#parts.clock.steadyMs();
    for (const name of ready) this.#tried.set(name, { stamp: found.get(name)?.stamp ?? '', atMs });
    const { main } = this.#parts.router;
    main.prepend({ type: 'ReloadFiles', saved: [], modules: new Set(ready), trigger: FILES_CHANGED });
    main.cutDelay();
  }

  /** The entries of all modules directories, with the targets of links. */
  async #list(): Promise<readonly string[]> {
    const lists = this.#parts.sources.modulesDirectories().map(async ({ path }) => {
      const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
      const lines = entries.map(async (entry) => {
        const file = join(path, entry.name);
        return entry.isSymbolicLink() ? `${file} -> ${await readlink(file).catch(() => '')}` : file;
      });
      return await Promise.all(lines);
    });
    return (await Promise.all(lists)).flat().toSorted();
  }

  async #find(removed: ReadonlySet<string>): Promise<ReadonlyMap<string, Finding>> {
    const { registry, sources, store } = this.#parts;
    const found = new Map<string, Finding>();
    const seen = new Set<string>();
    for (const { path } of sources.modulesDirectories()) {
      const places: readonly DirectoryEntry[] = await modulePlaces(path, { defaultOrder: 0 }).catch(() => []);
      for (const place of places.filter(isPlace)) {
        // Of two modules with one name the first one wins.
        if (seen.has(place.name)) continue;
        seen.add(place.name);
        const finding = await this.#findingOf(place, registry.find(place.name));
        if (finding !== undefined) found.set(place.name, finding);
      }
    }
    for (const module of registry.modules)
      if (removed.has(module.name) && !module.isRemoved && dirname(entryOf(module)) === store?.currentDir)
        found.set(module.name, { stamp: 'removed', isAtomic: true });
    return found;
  }

  async #findingOf(
    { name, entry, path, content }: ModulePlace,
    known: Module | undefined,
  ): Promise<Finding | undefined> {
    const { store, values } = this.#parts;
    if (content.type !== 'module') return undefined;
    const isLink = entry !== path;
    const isStored = store?.contains(path) === true;
    if (known !== undefined && !known.isRemoved) {
      // Lost files that are back are found by the looks at the directories.
      if (known.refusal !== undefined && !isStored) return undefined;
      if (filesOf(known) === path && entryOf(known) === entry && known.refusal === undefined)
        return undefined;
    }
    const section = JSON.stringify(values.configValues(name) ?? {});
    return {
      stamp: `${entry} ${await stampOf(path)} ${section}`,
      isAtomic: isStored || (isLink && known !== undefined),
    };
  }

  /** Whether a finding is another one than the last time, or that was long ago. */
  #mayTry(name: string, { stamp }: Finding): boolean {
    const tried = this.#tried.get(name);
    return tried?.stamp !== stamp || this.#parts.clock.steadyMs() - tried.atMs >= RETRY_MS;
  }

  /** Modules that are as they should be: also an update that was taken back. */
  #forget(found: ReadonlyMap<string, Finding>): void {
    for (const name of this.#tried.keys()) {
      if (found.has(name)) continue;
      this.#tried.delete(name);
      this.#parts.updates.clear(name);
    }
  }
}
