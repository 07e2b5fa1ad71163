import { componentLog } from '../lib/component-log.ts';
import { hasCode, OperatorError } from '../lib/errors.ts';
import type { Settings } from '../settings.ts';
import { ConfigMapStore } from '../values/config-map-store.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { BaseParts } from './base-parts.ts';
import type { DaemonHost } from './host.ts';
import { memoryRef } from './memory-ref.ts';
import { presenceMemory, readOnly } from './presence-memory.ts';
import { untilAnswered } from './until-answered.ts';

/**
 * The store of the operator's ConfigMap; nothing is read yet.
 *
 * @param logsEvents whether each event of the watch is logged whole
 * @param isInspection whether nothing may be written
 */
export function createConfigMap(
  settings: Settings,
  host: DaemonHost,
  { cluster, reflectors }: BaseParts,
  logsEvents: () => boolean,
  isInspection = false,
): ConfigMapStore {
  const { namespace, configMapName: name, configMapGraceMs: graceMs } = settings;
  const { clock, random } = host;
  const ref = { namespace, name };
  const log = componentLog(host, 'values');
  const kept = presenceMemory(cluster.main, memoryRef(settings));
  const memory = isInspection ? readOnly(kept) : kept;
  const deps = { kube: cluster.main, reflectors, ref, clock, random, log, graceMs, memory, logsEvents };
  return new ConfigMapStore(deps);
}

/**
 * Reads the ConfigMap for the first time, waiting for an API server that is away.
 *
 * @throws OperatorError CONFIG_MAP_INVALID for a ConfigMap that cannot be understood
 */
export async function loadPatiently(
  configMap: ConfigMapStore,
  host: Pick<DaemonHost, 'clock' | 'log' | 'random'>,
  stop: AbortSignal,
): Promise<void> {
  try {
    await untilAnswered('ConfigMap', () => configMap.load(stop), host, stop);
  } catch (error) {
    throw hasCode(error, 'CONFIG_MAP_INVALID') ? unusable(configMap, error) : error;
  }
}

/**
 * Takes over what the ConfigMap says at the start, which has to match the schemas.
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
    `ConfigMap ${title} cannot be used, mend it and start again: ${cause.message}`,
    { cause },
  );
}
