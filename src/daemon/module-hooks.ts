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

/** @param stop ends loads that nobody waits for yet */
export function createModuleHooks(
  loader: HookLoader,
  scripts: EnabledScriptOptions,
  hasHooks: (module: Module) => boolean,
  stop: AbortSignal,
): ModuleHooks {
  const ahead = new HooksAhead();
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
      using pass = startScriptPass(scripts);
      const onEnabled = (module: Module): void => {
        if (!hasHooks(module)) ahead.start(module.name, () => load(module, stop));
      };
      const discovery = await discoverModules({ ...input, onEnabled }, pass.run, signal);
      ahead.retain(new Set(discovery.enabled));
      return discovery;
    },
    load: async (module, signal) => (await ahead.take(module.name)) ?? (await load(module, signal)),
    forget: () => ahead.retain(new Set()),
  };
}
