import { findCrdFiles } from '../modules/crds/crd-files.ts';
import { CrdInstaller } from '../modules/crds/crd-installer.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleCrds } from '../operator/module-crds.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { BuildOptions } from './build-options.ts';

export interface CrdsOfModules extends ModuleCrds {
  /** Looks for the files of all modules. @throws OperatorError MODULE_INVALID */
  read(modules: readonly Module[]): Promise<void>;
}

/** The CRDs of modules; which files there are is known once `read` has looked. */
export function createCrds({ settings, host, base }: BuildOptions): CrdsOfModules {
  let files: ReadonlyMap<ModuleName, readonly string[]> = new Map();
  const installer = new CrdInstaller({
    kube: base.cluster.helm,
    discovery: base.cluster.discovery,
    clock: host.clock,
    log: host.log,
    extraLabels: settings.crdExtraLabels,
  });
  const filesOf = (module: ModuleName): readonly string[] => files.get(module) ?? [];
  return {
    read: async (modules) => {
      const prefixes = settings.crdFilterPrefixes;
      files = new Map(
        await Promise.all(
          modules
            .filter(({ refusal }) => refusal === undefined)
            .map(async ({ name, path }) => [name, await findCrdFiles(path, prefixes)] as const),
        ),
      );
    },
    has: (module) => filesOf(module).length > 0,
    ensure: (module, signal) => installer.ensure(module, filesOf(module), signal),
  };
}
