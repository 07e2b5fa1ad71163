import { join } from 'node:path';
import type { Hook } from '../hooks/hook.ts';
import { HooksAhead } from '../hooks/hooks-ahead.ts';
import type { HookLoader } from '../hooks/load-hooks.ts';
import { OperatorError } from '../lib/errors.ts';
import { type Discovery, type DiscoveryInput, discoverModules } from '../modules/discovery.ts';
import { type EnabledScriptOptions, startScriptPass } from '../modules/enabled-script.ts';
import type { Module } from '../modules/module.ts';

/** Discovery, and the hooks of what it finds. */
export interface ModuleHooks {
  /** As `discoverModules`; meanwhile hooks of modules that are found enabled, and have none yet, are loaded. */
  readonly discover: (input: DiscoveryInput, signal: AbortSignal) => Promise<Discovery>;
  /** @throws OperatorError HOOK_CONFIG_INVALID, MODULE_UNAUTHORIZED */
  readonly load: (module: Module, signal: AbortSignal) => Promise<readonly Hook[]>;
  /** To be called when files have changed. */
  readonly forget: () => void;
}

export interface ModuleHooksOptions {
  readonly loader: HookLoader;
  readonly scripts: EnabledScriptOptions;
  readonly hasHooks: (module: Module) => boolean;
  /** Ends loads that nobody waits for yet. */
  readonly stop: AbortSignal;
  /** What goes on in the background is entered here. */
  readonly running: AsyncDisposableStack;
}

export function createModuleHooks({
  loader,
  scripts,
  hasHooks,
  stop,
  running,
}: ModuleHooksOptions): ModuleHooks {
  const ahead = new HooksAhead();
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
  return {
    discover: async (input, signal) => {
      // Of one pass at a time: what slow disks leave to do does not add up.
      await removal;
      const pass = startScriptPass(scripts);
      const onEnabled = (module: Module): void => {
        if (!hasHooks(module)) ahead.start(module.name, () => load(module, stop));
      };
      try {
        const discovery = await discoverModules({ ...input, onEnabled }, pass.run, signal);
        ahead.retain(new Set(discovery.enabled));
        return discovery;
      } finally {
        removal = pass.end();
      }
    },
    load: async (module, signal) => (await ahead.take(module.name)) ?? (await load(module, signal)),
    forget: () => ahead.retain(new Set()),
  };
}
