/**
 * Sends the notices of one sink: one request at a time, in order, until the receiver accepts or refuses it. Nothing waits
 * for a receiver, and what it does not take is bounded.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, hasCode, messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { jittered } from '@addon-operator/concurrency/jitter';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { Wakeup } from '@addon-operator/concurrency/wakeup';
import type { Notice } from './notices.ts';

/** What became of an attempt or a notice; `failed` attempts are repeated. */
export type NoticeResult = 'sent' | 'failed' | 'refused' | 'dropped';

export interface SenderOptions {
  /** Sends one request and returns the status of the response. Rejects without one. */
  readonly post: (notice: Notice, signal: AbortSignal) => Promise<number>;
  readonly clock: SteadyClock;
  readonly random: () => number;
  /** Knows the name of the sink. */
  readonly log: Logger;
  readonly count: (result: NoticeResult) => void;
}

export const MAX_QUEUED = 1_000;
export const TIMEOUT_MS = 10_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** How long the stop of the operator waits for notices. */
export const FLUSH_MS = 2_000;
/** Statuses of the class 4xx after which the same request may succeed. */
const RETRIED = [408, 429];

export class NoticeSender {
  readonly #options: SenderOptions;
  readonly #queue: Notice[] = [];
  /** It stays the first until its result is final, so that retries keep the order. */
  #current: Notice | undefined;
  readonly #added = new Wakeup();
  #failures = 0;
  /** Since the last success. */
  readonly #logged = new Set<NoticeResult>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Queues a notice, unless it waits already. */
  add(notice: Notice): void {
    if ([this.#current, ...this.#queue].some((waiting) => waiting?.id === notice.id)) return;
    this.#queue.push(notice);
    if (this.#queue.length > MAX_QUEUED) this.#drop();
    this.#added.wake();
  }

  /** Drops the oldest notice that is followed by another one of its module, so that the last state of each is sent. */
  #drop(): void {
    const last = new Map(this.#queue.map(({ module }, index) => [module, index]));
    const place = this.#queue.findIndex(({ module }, index) => last.get(module) !== index);
    this.#queue.splice(Math.max(0, place), 1);
    this.#options.count('dropped');
  }

  /** Sends until the signal aborts, then for at most 2 s what still waits, unless another replica leads. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const end = new AbortController();
    const onStop = (): void => {
      this.#added.wake();
      if (hasCode(stop.reason, 'LEASE_LOST')) end.abort();
      this.#options.clock.sleep(FLUSH_MS, end.signal).then(
        () => end.abort(),
        () => undefined,
      );
    };
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop, { once: true });
    await this.#sendAll(stop, end.signal);
    end.abort();
    const unsent = this.#queue.length + (this.#current === undefined ? 0 : 1);
    if (unsent > 0) this.#options.log.warn({ unsent }, 'notifications were not sent before the stop');
  }

  async #sendAll(stop: AbortSignal, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const added = this.#added.next;
      this.#current ??= this.#queue.shift();
      if (this.#current === undefined) {
        if (stop.aborted) return;
        await added;
      } else if (await this.#isFinal(this.#current, end)) {
        this.#current = undefined;
      } else {
        if (stop.aborted) return;
        const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
        await this.#options.clock.sleep(jittered(delayMs, this.#options.random), stop).catch(() => undefined);
      }
    }
  }

  /** One attempt. */
  async #isFinal(notice: Notice, end: AbortSignal): Promise<boolean> {
    const { log, count } = this.#options;
    const response = await this.#attempt(notice, end);
    const result = resultOf(response);
    count(result);
    if (result === 'sent') {
      if (this.#logged.size > 0) log.info({}, 'notifications are sent again');
      this.#logged.clear();
      this.#failures = 0;
      return true;
    }
    const fields = response instanceof Error ? errorFields(response) : { status: response };
    const what =
      result === 'refused' ? 'was refused, and is dropped' : 'cannot be sent, which is tried again';
    // Once for each outage: the counter has the rest.
    if (!this.#logged.has(result) && !end.aborted)
      log.warn({ ...fields, module: notice.module }, `a notification ${what}`);
    this.#logged.add(result);
    this.#failures = result === 'refused' ? 0 : this.#failures + 1;
    return result === 'refused';
  }

  /** The status of the response, or why there is none. */
  async #attempt(notice: Notice, end: AbortSignal): Promise<number | Error> {
    const { clock, post } = this.#options;
    const limit = new AbortController();
    const timer = new AbortController();
    clock.sleep(TIMEOUT_MS, timer.signal).then(
      () => limit.abort(new Error(`no response within ${TIMEOUT_MS / 1_000} s`)),
      () => undefined,
    );
    const signal = AbortSignal.any([limit.signal, end]);
    try {
      return await resultOrAbort(post(notice, signal), signal);
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    } finally {
      timer.abort();
    }
  }
}

/** A redirect is not followed: like a refusal, it will not end by itself. */
function resultOf(response: number | Error): Exclude<NoticeResult, 'dropped'> {
  if (response instanceof Error) return 'failed';
  if (response >= 200 && response < 300) return 'sent';
  return response >= 300 && response < 500 && !RETRIED.includes(response) ? 'refused' : 'failed';
}
