import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { Extender, ModuleFlags } from '../modules/enablement.ts';
import { flagDecision, parseExtenders } from '../modules/enablement.ts';
import type { FoundModules } from '../modules/find-modules.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleHooks } from '../modules/module-hooks.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import { DynamicFlags } from './dynamic-flags.ts';
import type { ModuleSources } from './services.ts';

export interface ModuleFlagsOptions {
  readonly settings: Pick<ModuleSettings, 'appliedModuleExtenders'>;
  /** The newest valid content of the ConfigMap. */
  readonly configMap: { readonly content: ConfigMapContent };
  /** The last content of the modules directories. */
  readonly files: { readonly found: FoundModules };
}

/**
 * The flags of all sources, and the modules that they enable before scripts and requirements are
 * asked.
 */
export function createFlags({ settings, configMap, files }: ModuleFlagsOptions) {
  const extenders = parseExtenders(settings.appliedModuleExtenders.join(','));
  const flagsWith = ({ all, hooks }: Pick<DynamicFlags, 'all' | 'hooks'>): ModuleFlags => ({
    common: files.found.commonFlags,
    dynamic: all,
    configMap: configMap.content.flags,
    places: { common: files.found.commonFlagFiles, dynamic: hooks },
  });
  const dynamicFlags = new DynamicFlags((all) =>
    enabledBy(flagsWith({ all, hooks: new Map() }), files.found.modules, extenders),
  );
  const flags = (): ModuleFlags => flagsWith(dynamicFlags);
  const isFlaggedOff = (name: ModuleName): boolean => {
    const named = files.found.modules.filter((module) => module.name === name);
    return enabledBy(flags(), named, extenders).length === 0;
  };
  return { dynamicFlags, flags, extenders, isFlaggedOff };
}

function enabledBy(
  flags: ModuleFlags,
  modules: readonly Module[],
  extenders: readonly Extender[],
): readonly ModuleName[] {
  return modules.filter((module) => flagDecision(module, flags, extenders).isEnabled).map(({ name }) => name);
}

/**
 * Discovery with the current flags. With `isolate`, a failing enabled script concerns its module
 * alone. The version of the cluster is requested only if a module requires one.
 */
export function discoveries(
  { discover, rediscover }: ModuleHooks,
  { moduleFailurePolicy }: Pick<ModuleSettings, 'moduleFailurePolicy'>,
  flags: () => ModuleFlags,
  extenders: readonly Extender[],
  cluster: Pick<Discovery, 'serverVersion'>,
): Pick<ModuleSources, 'discover' | 'rediscover'> {
  const isolates = moduleFailurePolicy === 'isolate';
  const withFlags =
    (pass: ModuleHooks['discover']): ModuleSources['discover'] =>
    async (modules, { deployed, lastEnabled }, signal) => {
      const isRequired = modules.some(({ manifest }) => manifest.kubernetes !== undefined);
      const kubernetes = isRequired ? (await cluster.serverVersion(signal)).gitVersion : undefined;
      const isolated = isolates ? { lastEnabled } : {};
      return await pass({ modules, deployed, kubernetes, flags: flags(), extenders, ...isolated }, signal);
    };
  return { discover: withFlags(discover), rediscover: withFlags(rediscover) };
}
