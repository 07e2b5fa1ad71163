/**
 * Creates the ConfigMap store from settings, and the two steps of a start that use it: read it once the API server
 * responds, then check it against the schemas of the modules. Invalid content ends the start with the command's error,
 * because a daemon without valid values must not deploy.
 */

import type { Clock } from '@addon-operator/base/clock';
import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { componentLog } from '@addon-operator/base/log';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { type RetryHost, untilAvailable } from '@addon-operator/kube-client/retry';
import type { ConfigMapSettings, InstanceSettings } from '../settings/config-map-settings.ts';
import { memoryRef, presenceMemory, readOnly } from './config-map-presence.ts';
import { ConfigMapStore } from './config-map-store.ts';
import type { ModuleName } from './module-key.ts';
import type { ValuesStore } from './values-store.ts';

interface ConfigMapOptions {
  readonly settings: InstanceSettings & Pick<ConfigMapSettings, 'configMapGraceMs'>;
  readonly host: RetryHost & { readonly clock: Clock };
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  /** Whether each event of the watch is logged whole. */
  readonly logsEvents: () => boolean;
  /** Whether nothing may be written; default: false. */
  readonly isReadOnly?: boolean;
}

/**
 * The store of the operator's ConfigMap; nothing is read yet. A start reads it once with {@link loadPatiently}; from then on
 * its watch calls `operator/config-changes.ts`.
 */
export function createConfigMap(options: ConfigMapOptions): ConfigMapStore {
  const { settings, host, kube, reflectors, logsEvents, isReadOnly = false } = options;
  const { namespace, configMapName: name, configMapGraceMs: graceMs } = settings;
  const { clock, random } = host;
  const log = componentLog(host, 'values');
  const kept = presenceMemory(kube, memoryRef(settings));
  const memory = isReadOnly ? readOnly(kept) : kept;
  const ref = { namespace, name };
  return new ConfigMapStore({ kube, reflectors, ref, clock, random, log, graceMs, memory, logsEvents });
}

/** The command with which a user corrects the ConfigMap. */
export function editCommand({ namespace, configMapName }: InstanceSettings): string {
  return `kubectl -n ${namespace} edit configmap ${configMapName}`;
}

/**
 * Reads the ConfigMap for the first time, waiting for an API server that is away.
 *
 * @throws OperatorError CONFIG_MAP_INVALID for a ConfigMap that cannot be understood
 */
export async function loadPatiently(
  configMap: ConfigMapStore,
  host: RetryHost,
  stop: AbortSignal,
): Promise<void> {
  try {
    await untilAvailable('ConfigMap', () => configMap.load(stop), host, stop);
  } catch (error) {
    throw hasCode(error, 'CONFIG_MAP_INVALID') ? unusable(configMap, error) : error;
  }
}

/**
 * Takes over the ConfigMap at the start; it has to match the schemas.
 *
 * @param isChecked whether the schemas of a module count
 * @throws OperatorError VALUES_INVALID
 */
export function takeConfig(
  configMap: ConfigMapStore,
  values: ValuesStore,
  isChecked: (module: ModuleName) => boolean,
): void {
  try {
    values.setConfig(configMap.content, isChecked);
  } catch (error) {
    throw error instanceof OperatorError ? unusable(configMap, error) : error;
  }
}

function unusable({ title }: ConfigMapStore, cause: OperatorError): OperatorError {
  return new OperatorError(
    cause.code,
    `ConfigMap ${title} is invalid, correct it and start again: ${cause.message}`,
    { cause },
  );
}
