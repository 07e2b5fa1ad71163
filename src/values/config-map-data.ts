import { hasStatus, type KubeClient } from '../kube/kube-client.ts';
import { resourcePath } from '../kube/kube-object.ts';
import { CONFIG_MAPS, type ConfigMapRef, readConfigMap } from './config-map-object.ts';

type Data = Readonly<Record<string, string>>;

const MAX_ATTEMPTS = 6;

/** The data of a ConfigMap; none when it does not exist. @throws KubeApiError, OperatorError KUBE_UNREACHABLE */
export async function readConfigMapData(
  kube: KubeClient,
  ref: ConfigMapRef,
  signal: AbortSignal,
): Promise<Data> {
  return (await readConfigMap(kube, ref, signal))?.data ?? {};
}

/**
 * Changes the data of a ConfigMap, which is made when it is missing (`isThere` is false then). Whenever somebody else was faster it is read again.
 *
 * @throws KubeApiError, also when others were faster six times in a row; OperatorError KUBE_UNREACHABLE
 */
export async function changeConfigMapData(
  kube: KubeClient,
  ref: ConfigMapRef,
  change: (data: Data, isThere: boolean) => Data,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = ref;
  for (let attempt = 1; ; attempt += 1) {
    const current = await readConfigMap(kube, ref, signal);
    const data = change(current?.data ?? {}, current !== undefined);
    const body = current?.object ?? {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
    };
    try {
      await kube.request(
        current === undefined
          ? { method: 'POST', path: resourcePath(CONFIG_MAPS, namespace), body: { ...body, data } }
          : { method: 'PUT', path: resourcePath(CONFIG_MAPS, namespace, name), body: { ...body, data } },
        signal,
      );
      return;
    } catch (error) {
      if (!hasStatus(error, 409) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
