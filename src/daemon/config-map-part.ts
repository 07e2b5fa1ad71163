import type { Settings } from '../settings.ts';
import { ConfigMapStore } from '../values/config-map-store.ts';
import type { BaseParts } from './base-parts.ts';
import type { DaemonHost } from './host.ts';

/**
 * The store of the operator's ConfigMap; nothing is read yet.
 *
 * @param logsEvents whether each event of the watch is logged whole
 */
export function createConfigMap(
  { namespace, configMapName: name }: Settings,
  { clock, random, log }: DaemonHost,
  { cluster, reflectors }: BaseParts,
  logsEvents: () => boolean,
): ConfigMapStore {
  const ref = { namespace, name };
  return new ConfigMapStore({ kube: cluster.main, reflectors, ref, clock, random, log, logsEvents });
}
