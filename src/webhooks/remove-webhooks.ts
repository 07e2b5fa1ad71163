/**
 * Removes the registrations of an operator from the cluster, for `addon-operator uninstall-webhooks`. It is needed because
 * a webhook with failurePolicy Fail blocks writes after its server is gone. Only entries that lead to this operator are
 * removed. A conflict with another writer is retried with a fresh read.
 */

import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { hasStatus, type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { type KubeObject, resourcePath } from '@addon-operator/kube-client/kube-object';
import { type TargetSettings, webhookTargetOf } from './webhook-server.ts';
import { leadsTo, type WebhookTarget } from './webhook-target.ts';

const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const CONFIGURATIONS = [
  ['ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'],
  ['MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'],
] as const;
const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
/** Definitions contain schemas: a page of them has a few MB. */
const PAGE_SIZE = 50;
const WRITE_ATTEMPTS = 5;

/**
 * Removes the entries of webhook configurations that lead to an operator with these settings. What leads to other servers
 * stays; a configuration without entries is deleted.
 *
 * @returns a line for each configuration: `ValidatingWebhookConfiguration/shell-operator-hooks (2 webhooks)`
 * @throws KubeApiError, 403 included, or OperatorError KUBE_UNREACHABLE; what was removed before stays removed
 */
export async function removeAdmission(
  kube: KubeClient,
  settings: TargetSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const name = `${settings.validatingConfigurationName}-hooks`;
  const target = webhookTargetOf(settings, 'validating');
  const removed: string[] = [];
  for (const [kind, plural] of CONFIGURATIONS) {
    const path = resourcePath({ ...ADMISSION, plural }, undefined, name);
    const count = await withFreshObject(kube, path, signal, async (object) => {
      const entries = Array.isArray(object['webhooks']) ? object['webhooks'] : [];
      const others = entries.filter(
        (entry) => !leadsTo(target, isObject(entry) ? entry['clientConfig'] : undefined),
      );
      if (others.length === entries.length) return 0;
      const { uid, resourceVersion } = fieldsOf(object['metadata']);
      await kube.request(
        others.length > 0
          ? { method: 'PUT', path, body: { ...object, webhooks: others } }
          : { method: 'DELETE', path, body: { preconditions: { uid, resourceVersion } } },
        signal,
      );
      return entries.length - others.length;
    });
    if (count > 0) removed.push(`${kind}/${name} (${count} ${count === 1 ? 'webhook' : 'webhooks'})`);
  }
  return removed;
}

/**
 * Gives the strategy `None` to CRDs whose objects are converted by an operator with these settings. An operator that is running
 * registers its conversions again.
 *
 * @returns names of the CRDs
 * @throws as {@link removeAdmission}
 */
export async function removeConversions(
  kube: KubeClient,
  settings: TargetSettings,
  signal: AbortSignal,
): Promise<string[]> {
  const target = webhookTargetOf(settings, 'conversion');
  const removed: string[] = [];
  for await (const name of namesOfConverted(kube, target, signal)) {
    const path = resourcePath(CRDS, undefined, name);
    const isRemoved = await withFreshObject(kube, path, signal, async (crd) => {
      if (!isConvertedBy(target, crd)) return 0;
      const { resourceVersion } = fieldsOf(crd['metadata']);
      const body = {
        metadata: { resourceVersion },
        spec: { conversion: { strategy: 'None', webhook: null } },
      };
      await kube.request(
        { method: 'PATCH', path, contentType: 'application/merge-patch+json', body },
        signal,
      );
      return 1;
    });
    if (isRemoved > 0) removed.push(name);
  }
  return removed;
}

async function* namesOfConverted(
  kube: KubeClient,
  target: WebhookTarget,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let next: string | undefined;
  do {
    const query = { limit: String(PAGE_SIZE), continue: next };
    const list = fieldsOf(await kube.request({ method: 'GET', path: resourcePath(CRDS), query }, signal));
    const items = Array.isArray(list['items']) ? list['items'].filter(isObject) : [];
    for (const crd of items)
      if (isConvertedBy(target, crd)) yield stringOf(fieldsOf(crd['metadata'])['name']);
    next = stringOf(fieldsOf(list['metadata'])['continue']);
  } while (next !== '');
}

function isConvertedBy(target: WebhookTarget, crd: Readonly<Record<string, unknown>>): boolean {
  const { webhook } = fieldsOf(fieldsOf(crd['spec'])['conversion']);
  return leadsTo(target, fieldsOf(webhook)['clientConfig']);
}

/**
 * Calls `change` with the object as it is now, again when another client wrote it at the same time.
 *
 * @returns 0 when there is no object, else what `change` returns
 */
async function withFreshObject(
  kube: KubeClient,
  path: string,
  signal: AbortSignal,
  change: (object: KubeObject) => Promise<number>,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
    if (!isObject(object)) return 0;
    try {
      return await change(object as KubeObject);
    } catch (error) {
      if (!hasStatus(error, 409) || attempt === WRITE_ATTEMPTS) throw error;
    }
  }
}
