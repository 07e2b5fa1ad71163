import type { HookLoader } from '../hooks/load-hooks.ts';
import { loadGlobalHooks } from '../hooks/load-hooks.ts';
import { type LoneModule, sourcesOf } from '../model/lone-module.ts';
import { discoveries } from '../model/module-flags.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import type { Extender, ModuleFlags } from '../modules/enablement.ts';
import type { Module } from '../modules/module.ts';
import { createModuleHooks, type ModuleHooksOptions } from '../modules/module-hooks.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { ModuleFiles } from './module-files.ts';

export interface ModuleSourcesParts {
  readonly settings: Pick<ModuleSettings, 'moduleFailurePolicy'> & Pick<DirectorySettings, 'globalHooksDir'>;
  readonly loader: HookLoader;
  /** The options of enabled scripts. */
  readonly scripts: Pick<ModuleHooksOptions, 'scripts' | 'sections'>;
  readonly files: ModuleFiles;
  readonly values: ValuesStore;
  readonly followSecrets: () => Promise<void>;
  readonly flags: { readonly all: () => ModuleFlags; readonly extenders: readonly Extender[] };
  readonly registry: ModuleRegistry;
  readonly discovery: Parameters<typeof discoveries>[4];
  /** Set for `addon-operator dev` of one module; absent otherwise. */
  readonly lone: LoneModule | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/**
 * Creates the sources of modules and hooks: the directories as they were read last, and the
 * programs in them. Discovery and module runs read from it, the reload of files reads the
 * directories again.
 */
export function createSources({
  settings,
  loader,
  scripts,
  files,
  values,
  followSecrets,
  flags,
  registry,
  discovery,
  lone,
  stop,
  running,
}: ModuleSourcesParts): ModuleSources {
  const hasHooks = ({ name }: Module): boolean => registry.tracked.get(name)?.hooks !== undefined;
  const { sections } = scripts;
  const moduleHooks = createModuleHooks({
    loader,
    scripts: scripts.scripts,
    sections,
    hasHooks,
    stop,
    running,
  });
  const { discover, rediscover } = discoveries(moduleHooks, settings, flags.all, flags.extenders, discovery);
  const sources: ModuleSources = {
    discover,
    rediscover,
    loadModuleHooks: moduleHooks.load,
    loadGlobalHooks: (signal, options) => loadGlobalHooks(loader, settings.globalHooksDir, signal, options),
    readAgain: (options) => files.readAgain({ moduleHooks, values, followSecrets, registry }, options),
    prepareModuleHooks: moduleHooks.prepare,
    modulesDirectories: () => files.found.directories,
  };
  return lone === undefined ? sources : { ...sources, ...sourcesOf(lone) };
}
