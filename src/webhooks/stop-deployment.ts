/**
 * Stops the operator before its webhooks are removed, since a running one would register them again. Waits for the pods,
 * not for the Deployment: a terminating pod still writes.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';

const DEPLOYMENTS = { group: 'apps', version: 'v1', plural: 'deployments' };
const PODS = { group: '', version: 'v1', plural: 'pods' };
const POLL_MS = 1_000;

/** The Deployment of an operator. */
export interface DeploymentRef {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Scales a Deployment to 0 and waits until its pods have ended, those that are terminating included.
 *
 * @param limitMs for the wait; the grace period of the pods and some seconds
 * @returns false when there is no such Deployment
 * @throws OperatorError UNINSTALL_INCOMPLETE when pods are left after the limit, with their names
 * @throws KubeApiError, or OperatorError KUBE_UNREACHABLE
 */
export async function stopDeployment(
  kube: KubeClient,
  { namespace, name }: DeploymentRef,
  clock: SteadyClock,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const path = resourcePath(DEPLOYMENTS, namespace, name);
  const deployment = await requestIfPresent(kube, { method: 'GET', path }, signal);
  if (deployment === undefined) return false;
  const { matchLabels } = fieldsOf(fieldsOf(fieldsOf(deployment)['spec'])['selector']);
  const labelSelector = Object.entries(fieldsOf(matchLabels))
    .map(([key, value]) => `${key}=${stringOf(value)}`)
    .join(',');
  await kube.request(
    {
      method: 'PATCH',
      path: `${path}/scale`,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 0 } },
    },
    signal,
  );
  const endMs = clock.steadyMs() + limitMs;
  for (;;) {
    const query = { labelSelector };
    const list = await kube.request({ method: 'GET', path: resourcePath(PODS, namespace), query }, signal);
    const { items } = fieldsOf(list);
    const pods = Array.isArray(items) ? items.filter(isObject).map(nameOf) : [];
    if (pods.length === 0) return true;
    if (clock.steadyMs() >= endMs) {
      throw new OperatorError(
        'UNINSTALL_INCOMPLETE',
        `Cannot stop Deployment ${namespace}/${name}: after ${limitMs / 1_000} s ${pods.join(', ')} still run, and would register their webhooks again. Delete the pods (kubectl -n ${namespace} delete pod --force, if their node is gone), then uninstall again`,
      );
    }
    await clock.sleep(POLL_MS, signal);
  }
}

function nameOf(pod: Readonly<Record<string, unknown>>): string {
  return `pod ${stringOf(fieldsOf(pod['metadata'])['name'])}`;
}
