/**
 * A reconcile loop for `spec.conversion` of one CustomResourceDefinition. It wakes up when the definition changes, when
 * the certificate changes, and when it is stopped; compares; patches if there is a difference; waits. Errors are retried
 * after about 15 s. Another client that reverts the field cannot make it write more than once a second.
 */

import { isDeepStrictEqual } from 'node:util';
import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { jittered } from '@addon-operator/concurrency/jitter';
import { Wakeup } from '@addon-operator/concurrency/wakeup';
import type { WebhookCertificates } from '@addon-operator/http-server/webhook-certificates';
import { isObject } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { type ApiResource, type KubeObject, resourcePath } from '@addon-operator/kube-client/kube-object';
import type {
  ReflectorEvent,
  ReflectorSink,
  SharedReflectors,
} from '@addon-operator/kube-client/reflector-sink';
import { clientConfigOf, type WebhookTarget } from '../webhook-target.ts';

interface CrdConversionOptions {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly reflectors: SharedReflectors;
  readonly clock: SteadyClock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
  readonly target: WebhookTarget;
  readonly certificates: WebhookCertificates;
}

const RETRY_MS = 15_000;
/** Between two writes: another client that keeps changing the settings must not cause endless writes. */
const PAUSE_MS = 1_000;
const SERVICE_PORT = 443;
const CRDS: ApiResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  isNamespaced: false,
  verbs: ['list', 'watch', 'patch'],
};

/**
 * Makes a custom resource definition use our webhook, and keeps it so: when it is created later, when another client changes
 * it, when our authority changes. A failed attempt is retried after about 15 s. Resolves when the signal aborts; the definition
 * stays as it is then.
 *
 * @param onTried called after the first attempt, whether or not it could be made to use the webhook
 */
export async function keepCrdConversion(
  crdName: string,
  options: CrdConversionOptions,
  onTried: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { reflectors, clock, random, certificates } = options;
  const log = options.log.child({ crd: crdName });
  const crd = new LatestObject();
  const wake = (): void => crd.wake();
  const unsubscribe = certificates.onChange(wake);
  signal.addEventListener('abort', wake, { once: true });
  let isFollowed = false;
  while (!signal.aborted) {
    // Taken before the work, so that a change during the work ends the wait below at once.
    const changed = crd.changed();
    let pauseMs = 0;
    try {
      if (!isFollowed)
        await reflectors.subscribe(
          { resource: CRDS, fieldSelector: `metadata.name=${crdName}` },
          crd,
          signal,
        );
      isFollowed = true;
      if (crd.current === undefined)
        log.warn({}, 'the CRD does not exist yet; its conversion is set when it is created');
      else if (await setConversion(crd.current, crdName, options, signal)) {
        log.info({}, 'the CRD uses the conversion webhook of this operator');
        pauseMs = PAUSE_MS;
      }
    } catch (error) {
      if (signal.aborted) break;
      log.warn(errorFields(error), 'cannot set the conversion of the CRD, will retry');
      crd.wake();
      pauseMs = jittered(RETRY_MS, random);
    }
    onTried();
    if (pauseMs > 0) await clock.sleep(pauseMs, signal).catch(() => undefined);
    await changed;
  }
  signal.removeEventListener('abort', wake);
  unsubscribe();
}

/** Returns whether anything had to be changed. */
async function setConversion(
  crd: KubeObject,
  crdName: string,
  { kube, target, certificates }: CrdConversionOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const wanted = conversionSpec(target, crdName, certificates.current.ca);
  const spec = crd['spec'];
  if (isObject(spec) && isDeepStrictEqual(spec['conversion'], wanted)) return false;
  const { clientConfig, ...webhook } = wanted.webhook;
  // A merge patch keeps fields that it does not name, and `url` and `service` exclude each other.
  const cleared = { ...webhook, clientConfig: { url: null, service: null, ...clientConfig } };
  await kube.request(
    {
      method: 'PATCH',
      path: resourcePath(CRDS, undefined, crdName),
      contentType: 'application/merge-patch+json',
      body: { spec: { conversion: { ...wanted, webhook: cleared } } },
    },
    signal,
  );
  return true;
}

/** `spec.conversion` as the API server stores it, with its defaults. */
export function conversionSpec(target: WebhookTarget, crdName: string, ca: string) {
  const { service, ...rest } = clientConfigOf(target, `/${crdName}`, ca);
  return {
    strategy: 'Webhook',
    webhook: {
      clientConfig: {
        ...rest,
        ...(isObject(service) ? { service: { ...service, port: SERVICE_PORT } } : {}),
      },
      conversionReviewVersions: ['v1', 'v1beta1'],
    },
  };
}

/** The newest state of a selection that holds at most one object. */
class LatestObject implements ReflectorSink {
  #staged: KubeObject | undefined;
  #current: KubeObject | undefined;
  readonly #change = new Wakeup();

  /** Undefined while the object does not exist. */
  get current(): KubeObject | undefined {
    return this.#current;
  }

  /** Resolves at the next change, or when the waiting callers are woken. */
  changed(): Promise<void> {
    return this.#change.next;
  }

  wake(): void {
    this.#change.wake();
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged = objects[0] ?? this.#staged;
  }

  discard(): void {
    this.#staged = undefined;
  }

  commit(): void {
    this.#current = this.#staged;
    this.wake();
  }

  async apply(event: ReflectorEvent): Promise<void> {
    this.#current = event.type === 'Deleted' ? undefined : event.object;
    this.wake();
  }
}
