import type { Settings } from '../settings.ts';
import type { ConfigMapRef } from '../values/config-map-object.ts';

/** The ConfigMap with what the operator remembers from one start to the next, each fact under its own key. */
export function memoryRef({
  namespace,
  configMapName,
}: Pick<Settings, 'namespace' | 'configMapName'>): ConfigMapRef {
  return { namespace, name: `${configMapName}-modules` };
}
