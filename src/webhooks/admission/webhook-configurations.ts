/**
 * Writes ValidatingWebhookConfiguration and MutatingWebhookConfiguration. Both may be shared with other operators, so only
 * entries that lead to this one are replaced, and the write is conditional on the version that was read. Failed requests
 * are retried five times; a body that the API server rejects as invalid is not.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { jittered } from '@addon-operator/concurrency/jitter';
import { fieldsOf, isObject } from '@addon-operator/json';
import { hasStatus, KubeApiError, type KubeClient } from '@addon-operator/kube-client/kube-client';
import type { AdmissionType } from '../../hook-config/admission-binding.ts';
import { leadsTo, type WebhookTarget } from '../webhook-target.ts';
import type { WebhookEntry } from './webhook-entries.ts';

export interface WebhookConfigurationsOptions {
  readonly kube: KubeClient;
  /** Of the objects of both kinds. */
  readonly name: string;
  readonly target: WebhookTarget;
  readonly clock: SteadyClock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
}

/** The webhooks that are to be there, by binding type. */
export type DesiredWebhooks = Readonly<Record<AdmissionType, readonly WebhookEntry[]>>;

const ROOT = '/apis/admissionregistration.k8s.io/v1';
const KINDS = [
  ['kubernetesValidating', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'],
  ['kubernetesMutating', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'],
] as const;
const RETRY_DELAYS_MS = [2_000, 4_000, 8_000, 15_000, 15_000];

/** The objects that make the API server call us. Entries that lead to other servers are left as they are. */
export class WebhookConfigurations {
  readonly #options: WebhookConfigurationsOptions;

  constructor(options: WebhookConfigurationsOptions) {
    this.#options = options;
  }

  /**
   * Makes the entries that lead to us exactly the desired ones, in both objects. An object without entries is deleted.
   * Failed requests are retried five times, after about 2 to 15 s.
   *
   * @throws KubeApiError, or OperatorError KUBE_UNREACHABLE, of the last attempt
   */
  async sync(desired: DesiredWebhooks, signal: AbortSignal): Promise<void> {
    for (const [type, kind, plural] of KINDS)
      await this.#withRetries(() => this.#syncOne(kind, `${ROOT}/${plural}`, desired[type], signal), signal);
  }

  async #withRetries(act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, random, log, name } = this.#options;
    for (const meanDelayMs of RETRY_DELAYS_MS) {
      try {
        return await act();
      } catch (error) {
        signal.throwIfAborted();
        if (isInvalidRequest(error)) throw error;
        const delayMs = jittered(meanDelayMs, random);
        log.warn({ error, name, delayMs }, 'cannot register webhooks, will retry');
        await clock.sleep(delayMs, signal);
      }
    }
    return await act();
  }

  async #syncOne(
    kind: string,
    path: string,
    desired: readonly WebhookEntry[],
    signal: AbortSignal,
  ): Promise<void> {
    const { kube, name, log } = this.#options;
    const current = await this.#read(`${path}/${name}`, desired.length > 0, signal);
    const webhooks = [...this.#othersIn(current, desired), ...desired];
    if (current === undefined) {
      if (desired.length === 0) return;
      const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks };
      await kube.request({ method: 'POST', path, body }, signal);
    } else if (webhooks.length > 0) {
      if (desired.length === 0 && webhooks.length === entriesOf(current).length) return;
      await kube.request({ method: 'PUT', path: `${path}/${name}`, body: { ...current, webhooks } }, signal);
    } else {
      // Preconditions: another client may have added an entry after the read.
      const { uid, resourceVersion } = fieldsOf(current['metadata']);
      const body = { preconditions: { uid, resourceVersion } };
      await kube.request({ method: 'DELETE', path: `${path}/${name}`, body }, signal);
    }
    log.info({ kind, name, webhooks: desired.map((entry) => entry.name) }, 'webhooks are registered');
  }

  async #read(path: string, isNeeded: boolean, signal: AbortSignal) {
    try {
      const object = await this.#options.kube.request({ method: 'GET', path }, signal);
      return isObject(object) ? object : undefined;
    } catch (error) {
      // An operator without such hooks needs no permission to look for what earlier ones left.
      if (hasStatus(error, 404) || (!isNeeded && hasStatus(error, 403))) return undefined;
      throw error;
    }
  }

  #othersIn(current: Readonly<Record<string, unknown>> | undefined, desired: readonly WebhookEntry[]) {
    const names = new Set<unknown>(desired.map(({ name }) => name));
    return entriesOf(current).filter(
      (entry) => !names.has(entry['name']) && !leadsTo(this.#options.target, entry['clientConfig']),
    );
  }
}

function entriesOf(object: Readonly<Record<string, unknown>> | undefined) {
  const entries = object?.['webhooks'];
  return Array.isArray(entries) ? entries.filter(isObject) : [];
}

/** The same request would be refused again. */
function isInvalidRequest(error: unknown): boolean {
  return error instanceof KubeApiError && (error.status === 400 || error.status === 422);
}
