import type { Settings } from '../settings.ts';
import { ConfigMapStore } from '../values/config-map-store.ts';
import type { BaseParts } from './base-parts.ts';
import { componentLog } from './component-log.ts';
import type { DaemonHost } from './host.ts';

/**
 * The store of the operator's ConfigMap; nothing is read yet.
 *
 * @param logsEvents whether each event of the watch is logged whole
 */
export function createConfigMap(
  { namespace, configMapName: name }: Settings,
  host: DaemonHost,
  { cluster, reflectors }: BaseParts,
  logsEvents: () => boolean,
): ConfigMapStore {
  const { clock, random } = host;
  const ref = { namespace, name };
  const log = componentLog(host, 'values');
  return new ConfigMapStore({ kube: cluster.main, reflectors, ref, clock, random, log, logsEvents });
}
