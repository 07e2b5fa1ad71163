import type { Discovery } from '../../kube/discovery.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import type { SteadyClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { Module } from '../module.ts';
import { findCrdFiles } from './crd-files.ts';
import { CrdInstaller } from './crd-installer.ts';

/** The CustomResourceDefinitions that modules bring. */
export interface CrdsOfModules {
  /** Looks for the files of all modules. @throws OperatorError MODULE_INVALID */
  read(modules: readonly Module[]): Promise<void>;
  /** Whether the module brings any. */
  has(module: ModuleName): boolean;
  /** Applies them; resolves when their kinds can be used. */
  ensure(module: ModuleName, signal: AbortSignal): Promise<void>;
}

export interface CrdsOptions {
  readonly settings: {
    readonly crdExtraLabels: Readonly<Record<string, string>>;
    readonly crdFilterPrefixes: readonly string[];
  };
  readonly host: { readonly clock: SteadyClock; readonly log: Logger };
  readonly kube: KubeClient;
  readonly discovery: Discovery;
}

/** The CRDs of modules; which files there are is known once `read` has looked. */
export function createCrds({ settings, host, kube, discovery }: CrdsOptions): CrdsOfModules {
  let files: ReadonlyMap<ModuleName, readonly string[]> = new Map();
  const installer = new CrdInstaller({
    kube,
    discovery,
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
