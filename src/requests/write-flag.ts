import { type ConfigMapRef, changeConfigMapData } from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { SetFlagOutcome } from '../status/set-flag.ts';
import { FLAG_SUFFIX } from '../values/values-patch.ts';

export interface SetFlagParts {
  readonly kube: KubeClient;
  /** The ConfigMap of the operator. */
  readonly ref: ConfigMapRef;
  readonly registry: Pick<ModuleRegistry, 'find'>;
}

/**
 * Writes the flag of a module into the ConfigMap, on request of a user. All other keys stay as they are, with their
 * comments. The watch of the ConfigMap brings the change to the operator, as if the user had edited it.
 *
 * @throws KubeApiError, OperatorError KUBE_UNREACHABLE
 */
export async function setFlag(
  { kube, ref, registry }: SetFlagParts,
  name: string,
  isEnabled: boolean,
  signal: AbortSignal,
): Promise<SetFlagOutcome> {
  const module = registry.find(name);
  if (module === undefined) return { type: 'unknown' };
  const flag = `${module.key}${FLAG_SUFFIX}`;
  const value = String(isEnabled);
  let isSet = false;
  await changeConfigMapData(
    kube,
    ref,
    (data) => {
      isSet = data[flag] !== value;
      return { ...data, [flag]: value };
    },
    signal,
  );
  return { type: isSet ? 'set' : 'unchanged', flag, configMap: `${ref.namespace}/${ref.name}` };
}
