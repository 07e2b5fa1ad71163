import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { Extender, ModuleFlags } from '../modules/enablement.ts';
import type { FoundModules } from '../modules/find-modules.ts';
import type { ConfigMapSettings, InstanceSettings } from '../settings/config-map-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { ModuleName } from '../values/module-key.ts';
import { takeConfig } from '../values/operator-config-map.ts';
import { createSecrets } from '../values/secrets/secret-parts.ts';
import type { SecretReference } from '../values/secrets/secret-reference.ts';
import { ValuesStore } from '../values/values-store.ts';
import { type LoneModule, onlyContentOf } from './lone-module.ts';
import { createFlags } from './module-flags.ts';
import type { Configuration } from './services.ts';

export interface ConfigurationParts {
  readonly settings: Pick<InstanceSettings, 'namespace'> &
    Pick<ConfigMapSettings, 'secretReferences'> &
    Pick<ModuleSettings, 'appliedModuleExtenders'>;
  readonly host: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly reflectors: SharedReflectors;
  readonly redactor: Redactor;
  readonly configMap: ConfigMapStore;
  /** The last content of the modules directories. */
  readonly files: { readonly found: FoundModules };
  /** Absent where all modules count. */
  readonly lone: LoneModule | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/** The configuration, with members that only the creation of other parts needs. */
export interface CreatedConfiguration extends Configuration {
  readonly flags: { readonly all: () => ModuleFlags; readonly extenders: readonly Extender[] };
  readonly isFlaggedOff: (module: ModuleName) => boolean;
  /** Calls the listener from now on when followed references lead to something else. */
  readonly onSecretsChange: (listener: (changed: readonly SecretReference[]) => void) => void;
}

/**
 * Puts the layers of values together: files, then the ConfigMap with the Secrets that it refers to.
 *
 * @throws OperatorError for a ConfigMap that cannot be used with the schemas of the modules
 */
export async function createConfiguration({
  settings,
  host,
  reflectors,
  redactor,
  configMap,
  files,
  lone,
  stop,
  running,
}: ConfigurationParts): Promise<CreatedConfiguration> {
  const secrets = createSecrets({ settings, host, reflectors, redactor, stop, running });
  const values = new ValuesStore(files.found.staticValues, secrets.values);
  const followSecrets = (): Promise<void> => secrets.follow(values, configMap.content);
  const { dynamicFlags, flags, extenders, ...flagged } = createFlags({ settings, configMap, files });
  const isFlaggedOff = lone ? () => false : flagged.isFlaggedOff;
  await followSecrets();
  takeConfig(configMap, values, (module) => !isFlaggedOff(module));
  const content = (): ConfigMapStore['content'] => configMap.content;
  const isOwn = (key: string): boolean => files.found.modules.some((module) => module.key === key);
  return {
    values,
    dynamicFlags,
    configMapContent: lone === undefined ? content : onlyContentOf(content, isOwn),
    followSecrets,
    flags: { all: flags, extenders },
    isFlaggedOff,
    onSecretsChange: secrets.onChange,
  };
}
