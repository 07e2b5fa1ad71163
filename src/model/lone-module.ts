import { OperatorError } from '@addon-operator/base/errors';
import type { JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import type { FoundModules } from '../modules/find-modules.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { DirectoryMemory } from './purge-guard.ts';
import type { Releases } from './releases.ts';
import type { ModuleSources } from './services.ts';

/**
 * The one module that `addon-operator dev` runs on a developer's machine while the operator in the
 * cluster runs all others. Nothing of other modules is read, so that nothing of them can be
 * changed: neither their releases nor the records of the other operator.
 */
export interface LoneModule {
  readonly name: string;
  /** The modules that are enabled in the cluster, in run order, as hooks see them. */
  readonly enabledModules: () => readonly string[];
  /** Override the global values of files; absent for those alone. */
  readonly globalValues?: JsonObject;
}

/**
 * The files of one module among those that were found. A branch without the module must not look like a module that is to be
 * deleted.
 *
 * @throws OperatorError MODULE_UNKNOWN when it is not among them
 */
export function onlyFilesOf({ name, globalValues = {} }: LoneModule, found: FoundModules): FoundModules {
  const modules = found.modules.filter((module) => module.name === name);
  if (modules.length === 0) {
    const places = found.directories.map(({ path }) => path).join(', ');
    const others = found.modules.map((module) => module.name).join(', ');
    throw new OperatorError(
      'MODULE_UNKNOWN',
      `there is no module ${name} in ${places} (--modules-dir), which has ${others === '' ? 'none' : others}`,
    );
  }
  const { staticValues } = found;
  const global = mergeValues(staticValues.global, globalValues);
  return { ...found, modules, staticValues: { ...staticValues, global } };
}

/** The module is always enabled, without regard to flags and requirements; there are no global hooks. */
export function sourcesOf({
  name,
}: LoneModule): Pick<ModuleSources, 'discover' | 'rediscover' | 'loadGlobalHooks'> {
  const discover: ModuleSources['discover'] = async (modules) => {
    const enabled = modules.map((module) => module.name);
    const reason = `addon-operator dev runs ${name}`;
    const decision = { isEnabled: true, source: 'default', reason } as const;
    return await Promise.resolve({ enabled, decisions: new Map(enabled.map((one) => [one, decision])) });
  };
  return { discover, rediscover: discover, loadGlobalHooks: () => Promise.resolve([]) };
}

/** The releases in the cluster, of which there seems to be one at most. */
export function onlyReleaseOf({ name }: LoneModule, releases: Releases): Releases {
  return {
    ...releases,
    list: async (signal) => (await releases.list(signal)).filter((release) => release.name === name),
  };
}

/** The content of the ConfigMap without what it says about others: it is unknown only here. */
export function onlyContentOf(
  content: () => ConfigMapContent,
  isOwn: (key: string) => boolean,
): () => ConfigMapContent {
  const known = new WeakMap<ConfigMapContent, ConfigMapContent>();
  return () => {
    const all = content();
    const own = known.get(all) ?? {
      ...all,
      sections: new Map([...all.sections].filter(([key]) => isOwn(key))),
      flags: new Map([...all.flags].filter(([key]) => isOwn(key))),
      maintenance: new Set([...all.maintenance].filter((key) => isOwn(key))),
    };
    known.set(all, own);
    return own;
  };
}

/**
 * The operator in the cluster keeps its own record of directories; those of this machine must not
 * enter it.
 */
export const NO_DIRECTORY_MEMORY: DirectoryMemory = {
  read: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
};

/** The names of the modules that are enabled in the cluster, with the lone one. */
export function enabledWith({ name, enabledModules }: LoneModule): readonly ModuleName[] {
  const names = enabledModules();
  return (names.includes(name) ? names : [...names, name]) as readonly ModuleName[];
}
