/**
 * Labels the pod of this replica while it accepts webhook requests, and removes the label before it stops. `take-lead.ts`
 * uses it for leader and standby. Without permission to patch pods everything else works, and a log line says what to
 * allow.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { untilDone } from '@addon-operator/kube-client/retry';

/** The Services of webhooks select pods by this label, when the chart has high availability. */
export const ENDPOINT_LABEL = 'addon-operator.io/webhooks';
export const ENDPOINT_VALUE = 'serving';
/** The leader removes the label from a pod that does not respond for a while. */
const RENEWAL_MS = 30_000;
/** From the change of the label until every node has it: kube-proxy applies changes once a second. */
const DRAIN_MS = 5_000;
const REQUEST_MS = 3_000;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

interface WebhookEndpointOptions {
  readonly pod: { readonly namespace: string; readonly name: string };
  /** Not behind the fence: a standby labels its pod as well. */
  readonly kube: Pick<KubeClient, 'request'>;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * The pod of this replica as an endpoint of the Services of webhooks. They select pods that are not ready too, because
 * webhooks guard what is in the first converge, and Kubernetes keeps such a pod among the endpoints from before it listens
 * until after it has stopped. With the label it is there only while it listens.
 */
export class WebhookEndpoint {
  readonly #options: WebhookEndpointOptions;
  readonly #abandoned = new AbortController();
  readonly #published = Promise.withResolvers<boolean>();
  #isLabelled = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(options: WebhookEndpointOptions) {
    this.#options = options;
  }

  /**
   * To be called when this process listens. Labels the pod in the background, again every half minute, and removes the
   * label when `stop` aborts.
   * Without permission, or outside of a pod, nothing is labelled.
   */
  publish(stop: AbortSignal): void {
    if (stop.aborted) {
      this.#published.resolve(false);
      return;
    }
    const published = this.#label(stop).finally(() => this.#published.resolve(false));
    const onStop = (): void => {
      this.#drained = published.then(async () => await this.#withdraw());
    };
    stop.addEventListener('abort', onStop, { once: true });
  }

  /** Resolves to true when the pod has the label, to false when it will not get it. */
  async labelled(): Promise<boolean> {
    return await this.#published.promise;
  }

  /** Resolves when clients do not connect to this pod any more: at once before `stop` aborts and without a label. */
  async drained(): Promise<void> {
    await this.#drained;
  }

  /** Another replica may lead already, so nothing waits for clients. */
  abandon(): void {
    this.#abandoned.abort();
  }

  async #label(stop: AbortSignal): Promise<void> {
    const { log, clock, random } = this.#options;
    const onFailure = (error: unknown): void => {
      if (hasStatus(error, FORBIDDEN) || hasStatus(error, NOT_FOUND)) throw error;
      log.debug(errorFields(error), 'cannot label the pod yet');
    };
    try {
      // Not aborted by `stop`: it must not arrive after the removal.
      const attempt = async (): Promise<void> => await this.#patch(ENDPOINT_VALUE, this.#abandoned.signal);
      for (;;) {
        await untilDone(attempt, onFailure, { clock, random }, stop);
        this.#isLabelled = true;
        this.#published.resolve(true);
        await clock.sleep(RENEWAL_MS, stop);
      }
    } catch (error) {
      if (stop.aborted) return;
      // The chart allows it where there are such Services.
      const level = hasStatus(error, FORBIDDEN) ? 'info' : 'debug';
      log[level](
        { label: ENDPOINT_LABEL, ...errorFields(error) },
        'cannot label the pod: Services that select this label send it no webhook requests; allow the operator to patch pods in its namespace',
      );
    }
  }

  async #withdraw(): Promise<void> {
    if (!this.#isLabelled || this.#abandoned.signal.aborted) return;
    const { log, clock } = this.#options;
    try {
      await this.#patch(null, this.#abandoned.signal);
      await clock.sleep(DRAIN_MS, this.#abandoned.signal);
    } catch (error) {
      if (this.#abandoned.signal.aborted) return;
      log.debug(errorFields(error), 'cannot remove the label of the pod');
    }
  }

  async #patch(value: string | null, signal: AbortSignal): Promise<void> {
    const { kube, pod } = this.#options;
    await kube.request(
      {
        method: 'PATCH',
        path: resourcePath({ group: '', version: 'v1', plural: 'pods' }, pod.namespace, pod.name),
        body: { metadata: { labels: { [ENDPOINT_LABEL]: value } } },
        contentType: 'application/merge-patch+json',
        timeoutMs: REQUEST_MS,
      },
      signal,
    );
  }
}
