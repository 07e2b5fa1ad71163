import { join } from 'node:path';
import type { Hook } from '../hooks/hook.ts';
import { HooksAhead } from '../hooks/hooks-ahead.ts';
import type { HookLoader } from '../hooks/load-hooks.ts';
import { OperatorError } from '../lib/errors.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { VisibleSections } from '../values/visible-values.ts';
import { type Discovery, type DiscoveryInput, discoverModules, type EnabledScript } from './discovery.ts';
import { type EnabledScriptOptions, startScriptPass } from './enabled-script.ts';
import type { Module } from './module.ts';
import { ScriptVerdicts } from './script-verdicts.ts';

type Discover = (input: DiscoveryInput, signal: AbortSignal) => Promise<Discovery>;

/** Discovery, and the hooks of what it finds. */
export interface ModuleHooks {
  /** As `discoverModules`; meanwhile hooks of modules that are found enabled, and have none yet, are loaded. */
  readonly discover: Discover;
  /** As `discover`, but scripts whose last word still holds are not asked. */
  readonly rediscover: Discover;
  /** @throws OperatorError HOOK_CONFIG_INVALID, MODULE_UNAUTHORIZED */
  readonly load: (module: Module, signal: AbortSignal) => Promise<readonly Hook[]>;
  /** To be called when files have changed. */
  readonly forget: () => void;
}

export interface ModuleHooksOptions {
  readonly loader: HookLoader;
  readonly scripts: EnabledScriptOptions;
  /** What scripts are given, in parts. */
  readonly sections: (name: ModuleName) => VisibleSections;
  readonly hasHooks: (module: Module) => boolean;
  /** Ends loads that nobody waits for yet. */
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
  const ahead = new HooksAhead();
  const verdicts = new ScriptVerdicts(sections);
  let removal = Promise.resolve();
  running.defer(() => removal);
  const load = async (module: Module, signal: AbortSignal): Promise<readonly Hook[]> => {
    const { name, path, refusal } = module;
    if (refusal !== undefined)
      throw new OperatorError('MODULE_UNAUTHORIZED', `Module ${name} is not authorized: ${refusal}`, {
        isPermanent: true,
      });
    return loader.load(join(path, 'hooks'), { type: 'module', module: name }, signal);
  };
  const discovering =
    (asking: (ask: EnabledScript) => EnabledScript): Discover =>
    async (input, signal) => {
      // Of one pass at a time: what slow disks leave to do does not add up.
      await removal;
      const pass = startScriptPass(scripts);
      const onEnabled = (module: Module): void => {
        if (!hasHooks(module)) ahead.start(module.name, () => load(module, stop));
      };
      try {
        const discovery = await discoverModules({ ...input, onEnabled }, asking(pass.run), signal);
        ahead.retain(new Set(discovery.enabled));
        return discovery;
      } finally {
        removal = pass.end();
      }
    };
  return {
    discover: discovering((ask) => verdicts.askingAll(ask)),
    rediscover: discovering((ask) => verdicts.askingConcerned(ask)),
    load: async (module, signal) => (await ahead.take(module.name)) ?? (await load(module, signal)),
    forget: () => {
      ahead.retain(new Set());
      verdicts.forget();
    },
  };
}
