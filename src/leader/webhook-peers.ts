/**
 * The leader's check of the other replicas' webhook labels: a lost node cannot remove its own. Two requests without a
 * response, 2 s apart, remove the label; a replica that is alive sets it again within half a minute.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { ENDPOINT_LABEL, ENDPOINT_VALUE } from './webhook-endpoint.ts';

/** A lost replica is noticed after about this time. */
const PERIOD_MS = 10_000;
/** To a second request, after one without a response. */
const DOUBT_MS = 2_000;
const RESPONSE_MS = 3_000;
const REQUEST_MS = 5_000;
const FORBIDDEN = 403;
const PODS = { group: '', version: 'v1', plural: 'pods' };

export interface WebhookPeersOptions {
  /** The pod of this replica. */
  readonly pod: { readonly namespace: string; readonly name: string };
  /** Behind the fence: only the leader does this. */
  readonly kube: Pick<KubeClient, 'request'>;
  /** Where the HTTP server of each replica listens. */
  readonly port: number;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

interface Peer {
  readonly name: string;
  readonly address: string;
}

/**
 * Removes the label from pods of other replicas that do not respond, until `signal` aborts. A replica that is lost with its
 * node cannot remove it, and the Services of webhooks, which select pods that are not ready too, would send requests there
 * until the pod is deleted. A replica that is alive sets its label again.
 */
export async function withdrawLostPeers(options: WebhookPeersOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  try {
    for (;;) {
      try {
        await withdrawLost(options, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (hasStatus(error, FORBIDDEN)) {
          log.info(
            errorFields(error),
            'cannot check the pods of other replicas: one that is lost with its node still gets webhook requests; allow the operator to list pods in its namespace',
          );
          return;
        }
        log.debug(errorFields(error), 'cannot check the pods of other replicas yet');
      }
      await clock.sleep(PERIOD_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function withdrawLost(options: WebhookPeersOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  // The first round is only a suspicion: a busy replica may miss one request.
  const silent = await silentOf(await peersOf(options, signal), options, signal);
  if (silent.length === 0) return;
  await clock.sleep(DOUBT_MS, signal);
  for (const { name } of await silentOf(silent, options, signal)) {
    log.warn({ pod: name }, 'another replica does not respond: it gets no more webhook requests');
    await withdraw(name, options, signal);
  }
}

/** Pods with the label, but ours. */
async function peersOf({ kube, pod }: WebhookPeersOptions, signal: AbortSignal): Promise<readonly Peer[]> {
  const list = await kube.request(
    {
      method: 'GET',
      path: resourcePath(PODS, pod.namespace),
      query: { labelSelector: `${ENDPOINT_LABEL}=${ENDPOINT_VALUE}`, resourceVersion: '0' },
      timeoutMs: REQUEST_MS,
    },
    signal,
  );
  const { items } = fieldsOf(list);
  if (!Array.isArray(items)) return [];
  return items
    .map((item: unknown) => {
      const { metadata, status } = fieldsOf(item);
      return { name: stringOf(fieldsOf(metadata)['name']), address: stringOf(fieldsOf(status)['podIP']) };
    })
    .filter(({ name, address }) => name !== pod.name && address !== '');
}

async function silentOf(
  peers: readonly Peer[],
  options: WebhookPeersOptions,
  signal: AbortSignal,
): Promise<readonly Peer[]> {
  const responses = await Promise.all(peers.map(async (peer) => await responds(peer, options, signal)));
  return peers.filter((_, index) => responses[index] === false);
}

/** Any response will do: what it says is the matter of its probes. */
async function responds(
  { address }: Peer,
  { port, clock }: WebhookPeersOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const host = address.includes(':') ? `[${address}]` : address;
  const error = (): Error => new OperatorError('ABORTED', 'no response');
  try {
    await withDeadline({ clock, limitMs: RESPONSE_MS, error }, signal, async (limited) => {
      const response = await fetch(`http://${host}:${port}/healthz`, { signal: limited, redirect: 'manual' });
      await response.body?.cancel();
    });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function withdraw(
  name: string,
  { kube, pod }: WebhookPeersOptions,
  signal: AbortSignal,
): Promise<void> {
  await kube.request(
    {
      method: 'PATCH',
      path: resourcePath(PODS, pod.namespace, name),
      body: { metadata: { labels: { [ENDPOINT_LABEL]: null } } },
      contentType: 'application/merge-patch+json',
      timeoutMs: REQUEST_MS,
    },
    signal,
  );
}
