/**
 * Registers the conversions of hooks in CustomResourceDefinitions and handles the ConversionReviews. Each definition is
 * followed by a loop of its own (`crd-conversion.ts`), which may find it only later. When the last hook for a definition
 * is disabled, the loop ends but the registration stays: with the strategy None, objects of other versions would be
 * served unconverted.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { runInPlace } from '@addon-operator/concurrency/bounded-work';
import type { TlsResponse, WebhookRequest } from '@addon-operator/http-server/tls-server';
import type { WebhookCertificates } from '@addon-operator/http-server/webhook-certificates';
import PQueue from 'p-queue';
import type { ConversionBinding, ConversionRule } from '../../hook-config/conversion-binding.ts';
import type { WebhookCaller } from '../../hook-runs/webhook-run.ts';
import type { ConversionResponse } from '../../hooks/webhook-responses.ts';
import { callerOf } from '../webhook-caller.ts';
import { conversionResponse } from './conversion-response.ts';
import type { ConversionStep, ReviewedConversion } from './convert-objects.ts';

/** A hook in operation, as far as conversions are concerned. */
export interface ConversionHook {
  /** How messages name it. */
  readonly title: string;
  readonly bindings: readonly ConversionBinding[];
  /**
   * Runs the hook for one step, also while other runs of the hook are in progress.
   *
   * @returns undefined when the hook wrote no response
   * @throws OperatorError when the hook or what it wrote is broken
   */
  convert(
    binding: ConversionBinding,
    rule: ConversionRule,
    review: { readonly request: ReviewedConversion },
    caller: WebhookCaller,
    signal: AbortSignal,
  ): Promise<ConversionResponse | undefined>;
}

export interface ConversionWebhooksOptions {
  /** Starts the server; called once, before the first CustomResourceDefinition refers to it. */
  readonly open: (signal: AbortSignal) => Promise<WebhookCertificates>;
  /** See `keepCrdConversion`. */
  readonly keep: (
    crdName: string,
    certificates: WebhookCertificates,
    onTried: () => void,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Places for runs of hooks; a request waits for one until its deadline. */
  readonly runs: PQueue;
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
}

/** The conversions of all hooks: registers them in CustomResourceDefinitions, and handles the requests. */
export class ConversionWebhooks {
  readonly #options: ConversionWebhooksOptions;
  readonly #lock = new PQueue({ concurrency: 1 });
  #hooks: readonly ConversionHook[] = [];
  #certificates: WebhookCertificates | undefined;
  /** Definitions that are kept at our webhook, by name; after an abort a definition is not changed any more. */
  readonly #kept = new Map<string, AbortController>();

  constructor(options: ConversionWebhooksOptions) {
    this.#options = options;
  }

  /**
   * Puts hooks into operation. Resolves when each of their definitions was tried once to be set to our webhook: one that
   * does not exist yet, or cannot be changed now, is set later.
   *
   * @param hooks in path order: of equal steps the last declared counts
   * @throws OperatorError when the server cannot be started
   */
  add(hooks: readonly ConversionHook[], signal: AbortSignal): Promise<void> {
    return this.#lock.add(async () => {
      const fresh = hooks.filter((hook) => hook.bindings.length > 0 && !this.#hooks.includes(hook));
      if (fresh.length === 0) return;
      this.#certificates ??= await this.#options.open(signal);
      const certificates = this.#certificates;
      this.#hooks = [...this.#hooks, ...fresh];
      await Promise.all([...crdNames(fresh)].map((crdName) => this.#keep(crdName, certificates)));
    });
  }

  /** Takes hooks out of operation. Their definitions continue to refer to us: without a conversion, objects would be wrong. */
  remove(hooks: readonly ConversionHook[]): void {
    this.#hooks = this.#hooks.filter((hook) => !hooks.includes(hook));
    const left = crdNames(this.#hooks);
    for (const [crdName, controller] of this.#kept) {
      if (left.has(crdName)) continue;
      controller.abort();
      this.#kept.delete(crdName);
    }
  }

  /** Handles a POST; its path is `/<name of the custom resource definition>`. */
  handle(request: WebhookRequest, signal: AbortSignal): Promise<TlsResponse> {
    const { log, clock } = this.#options;
    const caller = callerOf(request, clock);
    const stepsFor = (crdName: string) => this.#stepsFor(crdName, caller);
    return conversionResponse(request, { stepsFor, clock, log }, signal);
  }

  #stepsFor(crdName: string, caller: WebhookCaller): readonly ConversionStep[] {
    const steps = new Map<string, ConversionStep>();
    for (const hook of this.#hooks)
      for (const binding of hook.bindings)
        if (binding.crdName === crdName)
          // A map, so that of two hooks with the same step the last one replaces the first.
          for (const rule of binding.conversions)
            steps.set(`${rule.fromVersion} ${rule.toVersion}`, {
              ...rule,
              hook: hook.title,
              run: (review, signal) =>
                runInPlace(
                  this.#options.runs,
                  () => hook.convert(binding, rule, review, caller, signal),
                  signal,
                ),
            });
    return [...steps.values()];
  }

  async #keep(crdName: string, certificates: WebhookCertificates): Promise<void> {
    if (this.#kept.has(crdName)) return;
    const controller = new AbortController();
    this.#kept.set(crdName, controller);
    const tried = Promise.withResolvers<void>();
    const ended = this.#options.keep(
      crdName,
      certificates,
      tried.resolve,
      AbortSignal.any([controller.signal, this.#options.stop]),
    );
    // Does not wait until the definition exists: it may belong to a module that is deployed later.
    await Promise.race([tried.promise, ended]);
  }
}

function crdNames(hooks: readonly ConversionHook[]): ReadonlySet<string> {
  return new Set(hooks.flatMap((hook) => hook.bindings.map(({ crdName }) => crdName)));
}
