import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import { COMMON_VALUES, DECISIVE_ENTRIES, type ModuleEntry } from '../modules/file-set.ts';
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

/** A module is held after two looks that find its files lost, and taken up after two that find them back and unchanged. */
export const LOOK_INTERVAL_MS = 5_000;

export interface DirectoryLooksParts {
  readonly registry: Pick<ModuleRegistry, 'modules' | 'find'>;
  readonly converge: Pick<ConvergeState, 'purge'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
  readonly memory: Pick<ModuleMemory, 'filesOf' | 'names'>;
}

/**
 * Looks at the directories of modules while the operator runs. Where the files of a module are lost, or are back, its files
 * are read again; nothing else on disk is taken over. It works with and without a watch on files, which reports neither
 * an unmounted volume nor the target of a link that is back.
 */
export class DirectoryLooks {
  readonly #parts: DirectoryLooksParts;
  /** What the last look found at modules that are not as they were loaded. */
  #seen: ReadonlyMap<string, string> = new Map();
  /** Modules that were registered at any look. */
  readonly #known = new Set<string>();
  /** What was there when the files of a refused module were read last. */
  readonly #tried = new Map<string, string>();

  constructor(parts: DirectoryLooksParts) {
    this.#parts = parts;
  }

  /** Looks once. */
  async look(): Promise<void> {
    const { memory, registry, router } = this.#parts;
    const found = new Map<string, string>();
    for (const module of registry.modules) {
      this.#known.add(module.name);
      const finding = await findingOf(module, memory);
      if (finding === undefined) this.#tried.delete(module.name);
      else if (finding !== this.#tried.get(module.name)) found.set(module.name, finding);
    }
    for (const [name, finding] of await this.#returned()) found.set(name, finding);
    const confirmed = [...found].filter(([name, finding]) => this.#seen.get(name) === finding);
    this.#seen = found;
    if (confirmed.length === 0) return;
    for (const [name, finding] of confirmed) this.#tried.set(name, finding);
    const modules = new Set(confirmed.map(([name]) => name));
    router.main.prepend({ type: 'ReloadFiles', saved: [], modules, trigger: FILES_CHANGED });
    router.main.cutDelay();
  }

  /** Modules that were there before and had no directory since, and which have one now. */
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

/** Looks again and again until the daemon stops. */
export async function runLooks(
  looks: Pick<DirectoryLooks, 'look'>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(LOOK_INTERVAL_MS, stop);
    try {
      await looks.look();
    } catch (error) {
      log.warn(errorFields(error), 'the directories of modules cannot be looked at');
    }
  }
}

/** What is there in place of what was loaded; undefined while the module is as it was. */
async function findingOf(module: Module, memory: DirectoryLooksParts['memory']): Promise<string | undefined> {
  const { path, link = path, source, refusal, entries } = module;
  // It runs from a copy, which its files do not change.
  if (source !== undefined && refusal === undefined) return undefined;
  if (refusal?.type === 'unauthorized') return undefined;
  if (refusal !== undefined) return [await stampOf(entryOf(module)), ...(await commonOf(module))].join('\n');
  if (entries === undefined || entries.length === 0) return undefined;
  const atLink = link === path ? undefined : await directoryContent(link);
  if (atLink !== undefined && atLink.type !== 'module') return atLink.problem;
  const content = await directoryContent(path);
  if (content.type !== 'module') return content.problem;
  // Without a run it is not known what belongs to the module.
  if (memory.filesOf(module.name) === undefined) return undefined;
  const there: ReadonlySet<string> = new Set([...content.entries, ...(await commonOf(module))]);
  const lost = entries.filter((entry) => DECISIVE_ENTRIES.has(entry) && !there.has(entry));
  return lost.length === 0 ? undefined : `without ${lost.join(', ')}`;
}

/** Whether the values.yaml beside a module is there. */
async function commonOf(module: Module): Promise<readonly ModuleEntry[]> {
  const path = join(dirname(entryOf(module)), VALUES_FILE);
  return await stat(path).then(
    () => [COMMON_VALUES],
    () => [],
  );
}

/** Changes with every file of a directory, also while files are being written. */
async function stampOf(path: string): Promise<string> {
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
