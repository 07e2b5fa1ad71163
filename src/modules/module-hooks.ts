import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import PQueue from 'p-queue';
import type { Hook } from '../hooks/hook.ts';
import type { HookLoader, OnInvalidHook } from '../hooks/load-hooks.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleSections } from '../values/visible-values.ts';
import { type EnabledScriptOptions, startScriptPass } from './enabled-script.ts';
import type { Module } from './module.ts';
import {
  type DiscoveryInput,
  discoverModules,
  type EnabledScript,
  type ModuleDiscovery,
} from './module-discovery.ts';
import { ScriptVerdicts } from './script-verdicts.ts';

type Discover = (input: DiscoveryInput, signal: AbortSignal) => Promise<ModuleDiscovery>;

/** Discovery, and the hooks of enabled modules. */
export interface ModuleHooks {
  /** Calls `discoverModules`; at the same time loads the hooks of enabled modules that have none yet. */
  readonly discover: Discover;
  /** The same, but does not run scripts whose last result is still valid. */
  readonly rediscover: Discover;
  /** @throws OperatorError HOOK_CONFIG_INVALID, MODULE_UNAUTHORIZED */
  readonly load: (module: Module, signal: AbortSignal, onInvalid?: OnInvalidHook) => Promise<readonly Hook[]>;
  /**
   * Loads the hooks of a version that does not run yet.
   *
   * @returns hands them to the next {@link load} of the module
   * @throws as {@link load}
   */
  readonly prepare: (
    module: Module,
    signal: AbortSignal,
  ) => Promise<{ readonly hooks: readonly Hook[]; readonly keep: () => void }>;
  /** Called when files have changed: drops preloaded hooks and script results. */
  readonly forget: () => void;
}

export interface ModuleHooksOptions {
  readonly loader: HookLoader;
  readonly scripts: EnabledScriptOptions;
  /** The input of scripts, in parts. */
  readonly sections: (name: ModuleName) => VisibleSections;
  readonly hasHooks: (module: Module) => boolean;
  /** Ends loads that no caller awaits yet. */
  readonly stop: AbortSignal;
  /** Receives background work, to be awaited at the stop. */
  readonly running: AsyncDisposableStack;
}

export function createModuleHooks({
  loader,
  scripts,
  sections,
  hasHooks,
  stop,
  running,
}: ModuleHooksOptions): ModuleHooks {
  const ahead = new PreloadedHooks();
  const verdicts = new ScriptVerdicts(sections);
  let removal = Promise.resolve();
  running.defer(() => removal);
  const load: ModuleHooks['load'] = async (module, signal, onInvalid) => {
    const { name, path, refusal, manifest } = module;
    if (refusal?.type === 'unauthorized')
      throw new OperatorError('MODULE_UNAUTHORIZED', `Module ${name} is not authorized: ${refusal.reason}`, {
        isPermanent: true,
      });
    if (refusal !== undefined)
      throw new OperatorError('MODULE_INVALID', `Module ${name} cannot be used: ${refusal.reason}`, {
        isPermanent: true,
      });
    const options = { onInvalid, batchHooks: manifest.batchHooks };
    return loader.load(join(path, 'hooks'), { type: 'module', module: name }, signal, options);
  };
  const discovering =
    (running: (run: EnabledScript) => EnabledScript): Discover =>
    async (input, signal) => {
      // One pass at a time: the removal of files on a slow disk must not add up.
      await removal;
      const pass = startScriptPass(scripts);
      const onEnabled = (module: Module): void => {
        if (!hasHooks(module)) ahead.start(module.name, () => load(module, stop));
      };
      try {
        const discovery = await discoverModules({ ...input, onEnabled }, running(pass.run), signal);
        ahead.retain(new Set(discovery.enabled));
        return discovery;
      } finally {
        removal = pass.end();
      }
    };
  return {
    discover: discovering((run) => verdicts.runningAll(run)),
    rediscover: discovering((run) => verdicts.runningConcerned(run)),
    // Preloaded hooks were loaded without the callback, so they do not serve a caller with one.
    load: async (module, signal, onInvalid) =>
      (onInvalid === undefined ? await ahead.take(module.name) : undefined) ??
      (await load(module, signal, onInvalid)),
    prepare: async (module, signal) => {
      const hooks = await load(module, signal);
      return { hooks, keep: () => ahead.keep(module.name, hooks) };
    },
    forget: () => {
      ahead.retain(new Set());
      verdicts.forget();
    },
  };
}

/** The number of parallel loads: they are short processes, and a machine has few cores. */
const LOADS_AT_ONCE = 4;

/** Undefined if they could not be loaded. */
type LoadedHooks = Promise<readonly Hook[] | undefined>;

/**
 * Hooks of modules that are loaded before the run of their module. Modules run one after another,
 * but the configurations of their hooks do not depend on each other.
 */
export class PreloadedHooks {
  readonly #loads = new PQueue({ concurrency: LOADS_AT_ONCE });
  readonly #modules = new Map<string, { hooks: LoadedHooks }>();

  /**
   * Loads the hooks of a module soon, unless that is done or in progress. Errors are dropped: see
   * {@link take}.
   */
  start(module: string, load: () => Promise<readonly Hook[]>): void {
    if (this.#modules.has(module)) return;
    const entry: { hooks: LoadedHooks } = { hooks: Promise.resolve(undefined) };
    this.#modules.set(module, entry);
    const isWanted = (): boolean => this.#modules.get(module) === entry;
    entry.hooks = this.#loads.add(async () => (isWanted() ? load() : undefined)).catch(() => undefined);
  }

  /** Takes over hooks that were loaded elsewhere. */
  keep(module: string, hooks: readonly Hook[]): void {
    this.#modules.set(module, { hooks: Promise.resolve(hooks) });
  }

  /**
   * Returns the loaded hooks once, and waits for a load in progress. Undefined if there are none,
   * the load failed, or it was dropped: the caller then loads them and gets the error.
   */
  async take(module: string): LoadedHooks {
    const entry = this.#modules.get(module);
    const hooks = await entry?.hooks;
    // Dropped in the meantime, for example because files changed, or taken by another caller.
    if (this.#modules.get(module) !== entry) return undefined;
    this.#modules.delete(module);
    return hooks;
  }

  /** Drops loaded and pending hooks of all other modules. */
  retain(modules: ReadonlySet<string>): void {
    for (const module of this.#modules.keys()) if (!modules.has(module)) this.#modules.delete(module);
  }
}
