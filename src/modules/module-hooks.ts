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

/** Discovery, and the hooks of what it finds. */
export interface ModuleHooks {
  /** As `discoverModules`; at the same time hooks of enabled modules that have none yet are loaded. */
  readonly discover: Discover;
  /** As `discover`, but scripts whose last result is still valid are not run. */
  readonly rediscover: Discover;
  /** @throws OperatorError HOOK_CONFIG_INVALID, MODULE_UNAUTHORIZED */
  readonly load: (module: Module, signal: AbortSignal, onInvalid?: OnInvalidHook) => Promise<readonly Hook[]>;
  /** To be called when files have changed. */
  readonly forget: () => void;
}

export interface ModuleHooksOptions {
  readonly loader: HookLoader;
  readonly scripts: EnabledScriptOptions;
  /** What scripts are given, in parts. */
  readonly sections: (name: ModuleName) => VisibleSections;
  readonly hasHooks: (module: Module) => boolean;
  /** Ends loads that are not awaited yet. */
  readonly stop: AbortSignal;
  /** What goes on in the background is entered here. */
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
      // Of one pass at a time: what slow disks leave to do does not add up.
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
    load: async (module, signal, onInvalid) =>
      (onInvalid === undefined ? await ahead.take(module.name) : undefined) ??
      (await load(module, signal, onInvalid)),
    forget: () => {
      ahead.retain(new Set());
      verdicts.forget();
    },
  };
}

/** Loads that may be under way at once: they are mostly short processes, and a machine has few cores for them. */
const LOADS_AT_ONCE = 4;

/** Undefined when they could not be loaded. */
type LoadedHooks = Promise<readonly Hook[] | undefined>;

/**
 * Hooks of modules, loaded before the turn of their module comes. Modules run one after another, but what their hooks
 * say about themselves does not depend on one another.
 */
export class PreloadedHooks {
  readonly #loads = new PQueue({ concurrency: LOADS_AT_ONCE });
  readonly #modules = new Map<string, { hooks: LoadedHooks }>();

  /** Loads the hooks of a module soon, unless that is done or under way. Failures are kept quiet: see {@link take}. */
  start(module: string, load: () => Promise<readonly Hook[]>): void {
    if (this.#modules.has(module)) return;
    const entry: { hooks: LoadedHooks } = { hooks: Promise.resolve(undefined) };
    this.#modules.set(module, entry);
    const isWanted = (): boolean => this.#modules.get(module) === entry;
    entry.hooks = this.#loads.add(async () => (isWanted() ? load() : undefined)).catch(() => undefined);
  }

  /**
   * What was loaded, once only, waiting for it where necessary; undefined when nothing was, it failed, or it was
   * forgotten in the meantime: the caller loads them itself and gets the error.
   */
  async take(module: string): LoadedHooks {
    const entry = this.#modules.get(module);
    const hooks = await entry?.hooks;
    // Forgotten in the meantime, perhaps because the files have changed, or taken by another caller.
    if (this.#modules.get(module) !== entry) return undefined;
    this.#modules.delete(module);
    return hooks;
  }

  /** Forgets what was loaded, or is still to be, for other modules than these. */
  retain(modules: ReadonlySet<string>): void {
    for (const module of this.#modules.keys()) if (!modules.has(module)) this.#modules.delete(module);
  }
}
