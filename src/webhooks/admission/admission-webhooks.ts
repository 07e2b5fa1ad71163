/**
 * Registers the validating and mutating webhooks of hooks and handles the AdmissionReviews. On the way in: parse the
 * review, find the binding by the path, wait for a place among the running hooks, run the hook, return its verdict. A hook
 * that fails denies the request with 403; one that is late follows its failurePolicy. Registration follows the set of
 * enabled hooks, and is repeated when the certificate authority changes.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { runInPlace } from '@addon-operator/concurrency/bounded-work';
import { jittered } from '@addon-operator/concurrency/jitter';
import type { TlsResponse, WebhookRequest } from '@addon-operator/http-server/tls-server';
import type { WebhookCertificates } from '@addon-operator/http-server/webhook-certificates';
import PQueue from 'p-queue';
import type { AdmissionBinding } from '../../hook-config/admission-binding.ts';
import type { WebhookCaller } from '../../hook-runs/webhook-run.ts';
import type { AdmissionResponse } from '../../hooks/webhook-responses.ts';
import { callerOf } from '../webhook-caller.ts';
import type { WebhookTarget } from '../webhook-target.ts';
import { limitMsOf, withinLimit } from '../within-limit.ts';
import {
  type AdmissionReview,
  type AdmissionVerdict,
  admissionResponse,
  parseAdmissionReview,
} from './admission-review.ts';
import type { WebhookConfigurations } from './webhook-configurations.ts';
import { HOOKS_PATH, type OwnState, stopsEverything, webhookEntry } from './webhook-entries.ts';
import { webhookId } from './webhook-id.ts';

/** A hook in operation, as far as admission is concerned. */
export interface AdmissionHook {
  /** How messages name it. */
  readonly title: string;
  readonly bindings: readonly AdmissionBinding[];
  /**
   * Runs the hook for a request, also while other runs of the hook are in progress.
   *
   * @returns undefined when the hook wrote no response
   * @throws OperatorError when the hook or what it wrote is broken
   */
  respond(
    binding: AdmissionBinding,
    review: { readonly request: unknown },
    caller: WebhookCaller,
    signal: AbortSignal,
  ): Promise<AdmissionResponse | undefined>;
}

export interface AdmissionWebhooksOptions {
  readonly configurations: Pick<WebhookConfigurations, 'sync'>;
  readonly target: WebhookTarget;
  readonly ownState: OwnState;
  /** Starts the server unless it runs; called before the first webhook is registered. */
  readonly open: (signal: AbortSignal) => Promise<WebhookCertificates>;
  /** Places for runs of hooks; a request waits for one until its deadline. */
  readonly runs: PQueue;
  readonly clock: SteadyClock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
}

interface Route {
  readonly hook: AdmissionHook;
  readonly binding: AdmissionBinding;
}

const REGISTER_AGAIN_MS = 30_000;

/** The validating and mutating webhooks of all hooks: registers them in the cluster, and handles their requests. */
export class AdmissionWebhooks {
  readonly #options: AdmissionWebhooksOptions;
  readonly #lock = new PQueue({ concurrency: 1 });
  #hooks: readonly AdmissionHook[] = [];
  #certificates: WebhookCertificates | undefined;
  /** Whether the registrations of earlier daemons have been removed. */
  #isClean = false;

  constructor(options: AdmissionWebhooksOptions) {
    this.#options = options;
  }

  /**
   * Puts hooks into operation: their requests are handled, then registered with the API server. The first call,
   * even one without webhooks, also removes registrations of an earlier daemon; a call that only does this never fails.
   *
   * @throws OperatorError HOOK_CONFIG_INVALID when two bindings would be called under the same path
   * @throws KubeApiError, or OperatorError KUBE_UNREACHABLE, when they cannot be registered; none is in operation then
   */
  add(hooks: readonly AdmissionHook[], signal: AbortSignal): Promise<void> {
    return this.#lock.add(async () => {
      const before = this.#hooks;
      const fresh = hooks.filter((hook) => hook.bindings.length > 0 && !before.includes(hook));
      if (fresh.length === 0) return await this.#cleanUp(signal);
      const all = [...before, ...fresh];
      checkIds(all);
      for (const { title, bindings } of fresh) for (const binding of bindings) this.#announce(title, binding);
      // Before the registration: a request may arrive as soon as the API server knows the webhook.
      this.#hooks = all;
      try {
        await this.#register(signal);
      } catch (error) {
        this.#hooks = before;
        throw error;
      }
    });
  }

  /** Takes hooks out of operation: first they are unregistered, then their requests are no longer handled. */
  remove(hooks: readonly AdmissionHook[], signal: AbortSignal): Promise<void> {
    return this.#lock.add(async () => {
      const rest = this.#hooks.filter((hook) => !hooks.includes(hook));
      if (rest.length === this.#hooks.length) return;
      // Unregistered first; in the other order a request could find no hook and be denied.
      await this.#register(signal, rest);
      this.#hooks = rest;
    });
  }

  /** Handles a POST below the path of the webhooks. */
  async handle(request: WebhookRequest, signal: AbortSignal): Promise<TlsResponse> {
    const { path, body, timeoutMs } = request;
    const caller = callerOf(request, this.#options.clock);
    const review = parseAdmissionReview(body);
    if ('status' in review) {
      this.#options.log.warn({ path, reason: review.body }, 'a webhook request is malformed');
      return review;
    }
    const [configuration = '', ...rest] = path.split('/').filter((segment) => segment !== '');
    const id = rest.join('/');
    const route = configuration === HOOKS_PATH ? this.#routeOf(id) : undefined;
    if (route === undefined)
      return admissionResponse(review, pending(`no hook found for '${configuration}' '${id}'`));
    return admissionResponse(review, await this.#judge(route, review, { ...caller, timeoutMs }, signal));
  }

  async #cleanUp(signal: AbortSignal): Promise<void> {
    if (this.#isClean) return;
    try {
      await this.#register(signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#options.log.warn(errorFields(error), 'cannot check for webhooks of an earlier daemon');
    }
  }

  #routeOf(id: string): Route | undefined {
    for (const hook of this.#hooks) {
      const binding = hook.bindings.find(({ name }) => webhookId(name) === id);
      if (binding !== undefined) return { hook, binding };
    }
    return undefined;
  }

  async #judge(
    { hook, binding }: Route,
    { request }: AdmissionReview,
    { timeoutMs, ...caller }: WebhookCaller & { readonly timeoutMs: number | undefined },
    signal: AbortSignal,
  ): Promise<AdmissionVerdict> {
    const { clock, log, runs } = this.#options;
    const facts = { hook: hook.title, webhook: binding.name };
    // The API server sends its timeout in the query of the URL; it may be shorter than that of the binding.
    const limitMs = limitMsOf(
      Math.min(binding.timeoutSeconds * 1_000, timeoutMs ?? Number.POSITIVE_INFINITY),
    );
    let isStarted = false;
    try {
      const reply = await withinLimit(clock, limitMs, signal, (limit) =>
        runInPlace(
          runs,
          () => {
            isStarted = true;
            return hook.respond(binding, { request }, caller, limit);
          },
          limit,
        ),
      );
      if (reply.type === 'late') {
        const late = { ...facts, limitMs, failurePolicy: binding.failurePolicy };
        if (isStarted) log.error(late, 'hook gave no response in time');
        else log.error(late, 'hook was not run in time: too many requests wait, see --webhook-max-runs');
        return lateVerdict(hook, binding, limitMs, isStarted);
      }
      if (reply.value === undefined) {
        log.error(facts, 'hook wrote no response to an admission request');
        return pending(`hook task prop error: ${hook.title} wrote no answer`);
      }
      return verdictOf(reply.value);
    } catch (error) {
      signal.throwIfAborted();
      log.error({ ...facts, ...errorFields(error) }, 'hook failed on an admission request');
      return { type: 'denied', code: 403, message: `Hook failed: ${hook.title}`, warnings: [] };
    }
  }

  #announce(title: string, binding: AdmissionBinding): void {
    if (stopsEverything(binding))
      this.#options.log.warn(
        { hook: title, webhook: binding.name },
        'webhook matches all requests: while the hook is broken, almost nothing in the cluster can be changed',
      );
  }

  async #register(signal: AbortSignal, hooks = this.#hooks): Promise<void> {
    const { configurations, target, ownState } = this.#options;
    const bindings = hooks.flatMap((hook) => hook.bindings);
    const ca = bindings.length === 0 ? '' : (await this.#open(signal)).current.ca;
    const entriesOf = (type: AdmissionBinding['type']) =>
      bindings
        .filter((binding) => binding.type === type)
        .map((binding) => webhookEntry(binding, { target, ca, ownState }));
    await configurations.sync(
      {
        kubernetesValidating: entriesOf('kubernetesValidating'),
        kubernetesMutating: entriesOf('kubernetesMutating'),
      },
      signal,
    );
    this.#isClean = true;
  }

  async #open(signal: AbortSignal): Promise<WebhookCertificates> {
    if (this.#certificates !== undefined) return this.#certificates;
    const certificates = await this.#options.open(signal);
    let { ca } = certificates.current;
    certificates.onChange((next) => {
      // A new serving certificate of the same authority needs no registration.
      if (next.ca === ca) return;
      ca = next.ca;
      void this.#registerAgain();
    });
    this.#certificates = certificates;
    return certificates;
  }

  /** Until the API server knows the new authority it may refuse to talk to us, so this does not give up. */
  async #registerAgain(): Promise<void> {
    const { clock, random, log, stop } = this.#options;
    while (!stop.aborted) {
      try {
        await this.#lock.add(() => this.#register(stop));
        return;
      } catch (error) {
        if (stop.aborted) return;
        log.error(errorFields(error), 'cannot register webhooks with their new authority');
        await clock.sleep(jittered(REGISTER_AGAIN_MS, random), stop).catch(() => undefined);
      }
    }
  }
}

function checkIds(hooks: readonly AdmissionHook[]): void {
  const known = new Map<string, string>();
  for (const { title, bindings } of hooks) {
    for (const { type, name } of bindings) {
      const id = webhookId(name);
      const here = `${type} '${name}' of ${title}`;
      const other = known.get(id);
      if (other !== undefined)
        throw new OperatorError(
          'HOOK_CONFIG_INVALID',
          `${here} and ${other} would both be called under /${HOOKS_PATH}/${id}: rename one of them`,
        );
      known.set(id, here);
    }
  }
}

function verdictOf({ isAllowed, message, warnings, patch }: AdmissionResponse): AdmissionVerdict {
  return isAllowed ? { type: 'allowed', warnings, patch } : { type: 'denied', code: 403, message, warnings };
}

function pending(reason: string): AdmissionVerdict {
  return { type: 'denied', code: 500, message: `handle AdmissionReview: ${reason}`, warnings: [] };
}

function lateVerdict(
  { title }: AdmissionHook,
  { failurePolicy }: AdmissionBinding,
  limitMs: number,
  isStarted: boolean,
): AdmissionVerdict {
  const within = `within ${limitMs / 1_000} s`;
  const reason = isStarted
    ? `${title} gave no response ${within}`
    : `${title} was not run ${within}: too many requests wait for hooks`;
  return failurePolicy === 'Ignore'
    ? { type: 'allowed', warnings: [`${reason}: allowed by its failurePolicy`], patch: '' }
    : { type: 'denied', code: 504, message: reason, warnings: [] };
}
