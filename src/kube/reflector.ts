import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { hasStatus, KubeApiError, type KubeClient } from './kube-client.ts';
import { reconnectDelayMs } from './reflector-backoff.ts';
import { ReflectorIndex } from './reflector-index.ts';
import { listAll } from './reflector-list.ts';
import type { ReflectorSink, Selection } from './reflector-sink.ts';
import { ReflectorSubscribers } from './reflector-subscribers.ts';
import { isOlderVersion } from './reflector-version.ts';
import { type WatchEnd, type WatchNotice, watch } from './reflector-watch.ts';

/** A connection that lived this long was a good one: the next is made at once. */
const HEALTHY_AFTER_MS = 5_000;
/** An API server that starts may not know its custom kinds yet, so one 404 deletes nothing. */
const MISSES_UNTIL_GONE = 2;

export interface ReflectorMetrics {
  /** One watch ended, or could not be opened. */
  watchEnded(kind: string, reason: WatchEnd | 'failed'): void;
}

export interface ReflectorDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: ReflectorMetrics;
}

type RoundResult =
  | { readonly status: 'healthy' }
  | { readonly status: 'failed'; readonly retryAfterSeconds: number | undefined };

const HEALTHY: RoundResult = { status: 'healthy' };
const FAILED: RoundResult = { status: 'failed', retryAfterSeconds: undefined };

/**
 * One list-then-watch loop over a selection, for any number of subscribers. There is one position in the stream of
 * changes for all of them: whoever joins makes the reflector list once more, the newcomers get the whole list, the others
 * what changed. Of the objects only names, uids and versions are kept.
 */
export class Reflector {
  readonly #deps: ReflectorDeps;
  readonly #selection: Selection;
  readonly #subscribers: ReflectorSubscribers;
  readonly #index = new ReflectorIndex();
  /** Where the watch goes on; undefined when only a list can tell. */
  #position: string | undefined;
  /** The newest version ever seen: nobody is shown an older state, except when the server itself went back. */
  #newest: string | undefined;
  /** Version of the last whole list. */
  #listed = '';
  /** Lists in a row that found no such kind. */
  #misses = 0;

  constructor(selection: Selection, deps: ReflectorDeps) {
    this.#selection = selection;
    this.#deps = deps;
    this.#subscribers = new ReflectorSubscribers((event, error) => {
      deps.log.error({ ...this.#describe(), object: event.key, error }, 'event not handled');
    });
  }

  get isUnused(): boolean {
    return this.#subscribers.isEmpty;
  }

  /**
   * Adds a subscriber; resolves when it has the whole state.
   *
   * @param onLeave called once the subscriber is gone: its signal aborted or its first list failed
   * @throws see `SharedReflectors.subscribe`
   */
  join(sink: ReflectorSink, signal: AbortSignal, onLeave: () => void): Promise<void> {
    return this.#subscribers.join(sink, signal, onLeave);
  }

  /** Lists and watches until the signal aborts; failures are logged and retried for ever. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    let failures = 0;
    // Whoever joins in the same breath shares the first list.
    await Promise.resolve();
    while (!signal.aborted) {
      const startedMs = clock.now();
      const result = await this.#round(signal);
      if (result.status === 'healthy' || isLongAgo(startedMs, clock)) failures = 0;
      if (result.status === 'failed' && !signal.aborted) {
        failures += 1;
        await this.#pause(failures, result.retryAfterSeconds, signal);
      }
    }
  }

  /** Waits before the next attempt, but does not let a newcomer wait. */
  async #pause(failures: number, retryAfterSeconds: number | undefined, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    const joined = new AbortController();
    this.#subscribers.whenJoined(() => joined.abort());
    try {
      const delayMs = reconnectDelayMs(failures, retryAfterSeconds, random);
      await clock.sleep(delayMs, AbortSignal.any([signal, joined.signal]));
    } catch (error) {
      if (!signal.aborted && !joined.signal.aborted) throw error;
    }
  }

  async #round(signal: AbortSignal): Promise<RoundResult> {
    let from = this.#position;
    try {
      from ??= await this.#list(signal);
    } catch (error) {
      return this.#failed(error, 'cannot list, will retry', signal);
    }
    try {
      return await this.#watch(from, signal);
    } catch (error) {
      this.#deps.metrics?.watchEnded(this.#selection.resource.kind, 'failed');
      return this.#failed(error, 'watch interrupted, will reconnect', signal);
    }
  }

  #failed(error: unknown, message: string, signal: AbortSignal): RoundResult {
    if (!signal.aborted) this.#deps.log.warn({ ...this.#describe(), error }, message);
    const retryAfterSeconds = error instanceof KubeApiError ? error.retryAfterSeconds : undefined;
    return { status: 'failed', retryAfterSeconds };
  }

  /** Lists for newcomers and, where something was missed, for the others. Resolves with the version of the list. */
  async #list(signal: AbortSignal): Promise<string> {
    const newcomers = this.#subscribers.takeNewcomers();
    let comparison = this.#index.compare();
    const request = {
      selection: this.#selection,
      notOlderThan: this.#newest,
      onPage: async (objects: Parameters<typeof newcomers.stage>[0]) => {
        comparison.add(objects, this.#subscribers.hasLive);
        await newcomers.stage(objects);
      },
      onRestart: () => {
        comparison = this.#index.compare();
        newcomers.discard();
      },
    };
    let resourceVersion: string;
    try {
      resourceVersion = await listAll(this.#deps.kube, request, signal);
    } catch (error) {
      newcomers.refuse(error);
      await this.#noteMiss(error);
      throw error;
    }
    this.#misses = 0;
    this.#position = resourceVersion;
    this.#newest = resourceVersion;
    this.#listed = resourceVersion;
    const delivered = this.#subscribers.deliver(comparison.finish());
    newcomers.admit();
    await delivered;
    return resourceVersion;
  }

  /** A kind that is not served any more has no objects. */
  async #noteMiss(error: unknown): Promise<void> {
    this.#misses = hasStatus(error, 404) ? this.#misses + 1 : 0;
    if (this.#misses < MISSES_UNTIL_GONE) return;
    this.#position = undefined;
    await this.#subscribers.deliver(this.#index.compare().finish());
  }

  async #watch(from: string, signal: AbortSignal): Promise<RoundResult> {
    const { clock } = this.#deps;
    const startedMs = clock.now();
    const close = new AbortController();
    const request = { selection: this.#selection, resourceVersion: from };
    const notices = watch(this.#deps, request, AbortSignal.any([signal, close.signal]));
    const listen = (): ReturnType<typeof notices.next> => {
      const notice = notices.next();
      // It may fail while something else is waited for; whoever awaits it sees the failure all the same.
      notice.catch(() => undefined);
      return notice;
    };
    let next = listen();
    try {
      for (;;) {
        await this.#settledOrJoined(next);
        if (this.#subscribers.hasNewcomers) {
          if (!(await this.#listForNewcomers(signal))) return FAILED;
          continue;
        }
        const { value: notice } = await next;
        if (notice === undefined) return FAILED;
        if (notice.type === 'end') {
          this.#end(notice);
          const isProgress = this.#newest !== from || isLongAgo(startedMs, clock);
          return isProgress && notice.reason !== 'broken' ? HEALTHY : FAILED;
        }
        await this.#take(notice);
        next = listen();
      }
    } finally {
      close.abort();
      notices.return().catch(() => undefined);
    }
  }

  async #settledOrJoined(next: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#subscribers.whenJoined(resolve);
    next.then(
      () => resolve(),
      () => resolve(),
    );
    await promise;
  }

  /**
   * Lists once more while the watch stays open; whoever has the state already gets what changed. A failure concerns
   * the newcomers alone.
   *
   * @returns whether the open watch still continues what was listed
   */
  async #listForNewcomers(signal: AbortSignal): Promise<boolean> {
    const before = this.#position;
    try {
      await this.#list(signal);
    } catch {
      signal.throwIfAborted();
    }
    const after = this.#position;
    return before !== undefined && after !== undefined && !isOlderVersion(after, before);
  }

  async #take(notice: Exclude<WatchNotice, { type: 'end' }>): Promise<void> {
    const { resourceVersion } = notice;
    // A list for newcomers may have overtaken the watch; what it covers must not be told again.
    const isCovered = this.#listed === resourceVersion || isOlderVersion(resourceVersion, this.#listed);
    if (isCovered) return;
    if (notice.type === 'change') {
      await this.#subscribers.deliver(this.#index.observe(notice.change, notice.object));
    }
    if (this.#position !== undefined && isOlderVersion(resourceVersion, this.#position)) return;
    this.#position = resourceVersion;
    this.#newest = resourceVersion;
  }

  #end(notice: Extract<WatchNotice, { type: 'end' }>): void {
    const { log, metrics } = this.#deps;
    metrics?.watchEnded(this.#selection.resource.kind, notice.reason);
    if (notice.reason === 'closed' || notice.reason === 'early') return;
    // A broken watch says nothing about the position: what came before it was whole.
    if (notice.reason !== 'broken') this.#position = undefined;
    log.warn({ ...this.#describe(), reason: notice.reason, detail: notice.detail }, 'watch ended');
  }

  #describe(): Record<string, unknown> {
    const { resource, namespace, labelSelector, fieldSelector } = this.#selection;
    return { kind: resource.kind, namespace, labelSelector, fieldSelector };
  }
}

function isLongAgo(startedMs: number, clock: Clock): boolean {
  return Math.abs(clock.now() - startedMs) >= HEALTHY_AFTER_MS;
}
