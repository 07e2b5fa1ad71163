import type { KubeClient } from '../kube/kube-client.ts';
import { changeConfigMapData, readConfigMapData } from './config-map-data.ts';
import type { ConfigMapRef } from './config-map-object.ts';
import type { PresenceMemory } from './config-map-presence.ts';

const KEY = 'configMap';
const PRESENT = 'present';

/** The ConfigMap with what the operator remembers from one start to the next, each fact under its own key. */
export function memoryRef({
  namespace,
  configMapName,
}: {
  readonly namespace: string;
  readonly configMapName: string;
}): ConfigMapRef {
  return { namespace, name: `${configMapName}-modules` };
}

/** Keeps in the ConfigMap `ref` whether the ConfigMap with the values existed. Nothing is written that is there already. */
export function presenceMemory(kube: KubeClient, ref: ConfigMapRef): PresenceMemory {
  const read = async (signal: AbortSignal): Promise<boolean> =>
    (await readConfigMapData(kube, ref, signal))[KEY] === PRESENT;
  return {
    read,
    write: async (isPresent, signal) => {
      if ((await read(signal)) === isPresent) return;
      await changeConfigMapData(kube, ref, (data) => withPresence(data, isPresent), signal);
    },
  };
}

/** For commands that only look. */
export function readOnly(memory: PresenceMemory): PresenceMemory {
  return { read: (signal) => memory.read(signal), write: () => Promise.resolve() };
}

/** All other keys stay: this is not the only fact in that ConfigMap. */
function withPresence(
  data: Readonly<Record<string, string>>,
  isPresent: boolean,
): Readonly<Record<string, string>> {
  if (isPresent) return { ...data, [KEY]: PRESENT };
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== KEY));
}
