import type { Json } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { dumpYaml } from '@addon-operator/yaml';

/** Namespace and name of the ConfigMap of the operator on the sandbox. */
export const NAMESPACE = 'addon-operator';
export const CONFIG_MAP = 'addon-operator';

/** Creates the namespace and the ConfigMap of the operator. */
export async function createOperatorObjects(
  kube: KubeClient,
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, section]) => [key, dumpYaml(section as Json, 2)]),
  );
  const namespaces = '/api/v1/namespaces';
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  await kube.request({ method: 'POST', path: namespaces, body: namespace }, signal);
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CONFIG_MAP }, data };
  const path = `${namespaces}/${NAMESPACE}/configmaps`;
  await kube.request({ method: 'POST', path, body: configMap }, signal);
}

/** Replaces sections of the ConfigMap; null removes one. */
export async function patchOperatorConfig(
  kube: KubeClient,
  sections: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(sections).map(([key, section]) => [
      key,
      section === null ? null : dumpYaml(section as Json, 2),
    ]),
  );
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/${CONFIG_MAP}`;
  const contentType = 'application/merge-patch+json';
  await kube.request({ method: 'PATCH', path, contentType, body: { data } }, signal);
}
