// The list-then-watch loop behind every kubernetes binding. `reflector-shared.ts` starts one reflector per
// selection and adds a subscriber for each binding that wants it. One round lists (`reflector-list.ts`),
// hands newcomers the whole state and the others the changes since (`reflector-index.ts`), and then watches
// from the version of that list (`reflector-watch.ts`) until the watch ends. What can go wrong: the server is
// away (retried with back-off for ever), its position is too old (listed again), the kind got another served
// version or none (discovery decides), or its store went back in time (the position is given up).

import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type ApiHealth, MIN_OUTAGE_MS } from './api-health.ts';
import { hasStatus, KubeApiError, type KubeClient } from './kube-client.ts';
import { type ApiResource, apiVersionOf, isOlderVersion } from './kube-object.ts';
import { ReflectorIndex } from './reflector-index.ts';
import { currentVersion, listAll } from './reflector-list.ts';
import { pauseBeforeRetry } from './reflector-pause.ts';
import type { ReflectorSink, Selection } from './reflector-sink.ts';
import { ReflectorSubscribers } from './reflector-subscribers.ts';
import { type WatchEnd, type WatchNotice, watch } from './reflector-watch.ts';
import { reconnectPause } from './retry.ts';

/** A connection that lived this long was a good one: the next is made at once. */
const HEALTHY_AFTER_MS = 5_000;
/** An API server that starts may not serve its custom kinds yet, so one response without the kind deletes nothing. */
const MISSES_UNTIL_GONE = 2;

interface ReflectorMetrics {
  /** One watch ended, or could not be opened. */
  watchEnded(kind: string, reason: WatchEnd | 'failed'): void;
  /** An object of a list or of a watch cannot be used, and is set aside. */
  objectSetAside?(kind: string): void;
}

export interface ReflectorDeps {
  readonly kube: KubeClient;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Learns of all requests to the API server. */
  readonly health: ApiHealth;
  /**
   * Discovers anew under which version a kind is served, see `Discovery.rediscover`: undefined when it is not served any
   * more, rejected when that is not known.
   */
  readonly rediscover: (resource: ApiResource, signal: AbortSignal) => Promise<ApiResource | undefined>;
  readonly metrics?: ReflectorMetrics;
}

/** `healthy` resets the back-off. The error, if there is one, may carry a Retry-After. */
type RoundResult = { readonly status: 'healthy' } | { readonly status: 'failed'; readonly error?: unknown };

const HEALTHY: RoundResult = { status: 'healthy' };
const FAILED: RoundResult = { status: 'failed' };

/**
 * One list-then-watch loop over a selection, for any number of subscribers. There is one position in the stream of
 * changes for all of them: a new subscriber makes the reflector list once more, the newcomers get the whole list, the others
 * what changed. Of the objects only names, uids and versions are kept.
 */
export class Reflector {
  readonly #deps: ReflectorDeps;
  /** The selection of the subscribers. */
  readonly #wanted: Selection;
  /** The same selection, or under another version of the kind while the wanted one is not served. */
  #selection: Selection;
  /** Whether the index was filled from another version of the kind than the next list. */
  #isConverted = false;
  readonly #subscribers: ReflectorSubscribers;
  readonly #index = new ReflectorIndex();
  /** Resource version at which the next watch starts; undefined when a list has to provide it. */
  #position: string | undefined;
  /** Whether the connection to the server was lost since the position was known to be good. */
  #isInterrupted = false;
  /** The newest version ever seen: no subscriber gets an older state, except when the server itself went back. */
  #newest: string | undefined;
  /** First of the requests in a row without a response. */
  #unreachableSinceMs: number | undefined;
  /** Version of the last whole list. */
  #listed = '';
  /** Whether objects were set aside since the last list: they are tried again with another one when the watch ends. */
  #hasUnusable = false;
  /** Lists in a row that failed because the server has no such kind. */
  #misses = 0;

  constructor(selection: Selection, deps: ReflectorDeps) {
    this.#wanted = selection;
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
    // Subscribers that join in the same turn of the event loop share the first list.
    await Promise.resolve();
    while (!signal.aborted) {
      const startedMs = clock.steadyMs();
      const result = await this.#round(signal);
      if (result.status === 'healthy' || isLongAgo(startedMs, clock)) failures = 0;
      if (result.status === 'failed' && !signal.aborted) {
        failures += 1;
        await this.#pause(failures, result.error, signal);
      }
    }
  }

  /** Waits before the next attempt, but does not let a newcomer wait. */
  async #pause(failures: number, cause: unknown, signal: AbortSignal): Promise<void> {
    const joined = new AbortController();
    this.#subscribers.whenJoined(() => joined.abort());
    try {
      const pause = reconnectPause(failures, cause, this.#deps.random);
      await pauseBeforeRetry(this.#deps, pause, AbortSignal.any([signal, joined.signal]));
    } catch (error) {
      if (!signal.aborted && !joined.signal.aborted) throw error;
    }
  }

  /** One list, unless the position is known, and one watch. Never throws, except for bugs. */
  async #round(signal: AbortSignal): Promise<RoundResult> {
    let from: string;
    try {
      await this.#returnToWantedVersion(signal);
      if (this.#isInterrupted) await this.#checkStore(signal);
      from = this.#position ?? (await this.#list(signal));
    } catch (error) {
      return this.#failed(error, 'cannot list, will retry', signal);
    }
    try {
      return await this.#watch(from, signal);
    } catch (error) {
      this.#deps.metrics?.watchEnded(this.#selection.resource.kind, 'failed');
      this.#isInterrupted ||= hasCode(error, 'KUBE_UNREACHABLE');
      return this.#failed(error, 'watch interrupted, will reconnect', signal);
    }
  }

  /** Logs a failure and passes it to the subscribers; after an abort neither. */
  #failed(error: unknown, message: string, signal: AbortSignal): RoundResult {
    if (!signal.aborted) {
      this.#deps.log[this.#levelOf(error)]({ ...this.#describe(), error }, message);
      this.#subscribers.notify((sink) => sink.failed?.(error));
    }
    return { status: 'failed', error };
  }

  /** An outage is logged once for all watches; a connection that alone fails for as long as that is worth a warning. */
  #levelOf(error: unknown): 'debug' | 'warn' {
    const { clock, health } = this.#deps;
    if (!hasCode(error, 'KUBE_UNREACHABLE')) return 'warn';
    const nowMs = clock.steadyMs();
    this.#unreachableSinceMs ??= nowMs;
    const isShort = nowMs - this.#unreachableSinceMs < MIN_OUTAGE_MS;
    return isShort || health.outage !== undefined ? 'debug' : 'warn';
  }

  /**
   * Gives up the position when the store of the server went back, as when it was restored from a backup. A watch from a
   * later version receives nothing then; once the versions of the server overtake that one, it goes on as if nothing had
   * happened, and what was undone is never reported. A server that does not respond may be about to be restored.
   */
  async #checkStore(signal: AbortSignal): Promise<void> {
    if (this.#position === undefined || this.#newest === undefined) return;
    try {
      const version = await currentVersion(this.#deps.kube, this.#selection, signal);
      this.#isInterrupted = false;
      if (isOlderVersion(version, this.#newest)) this.#position = undefined;
    } catch (error) {
      signal.throwIfAborted();
      // A refusal such as 403 will meet the watch as well, where it is handled.
      if (!(error instanceof KubeApiError)) this.#position = undefined;
    }
  }

  /**
   * Lists for newcomers and, where something was missed, for the others. Resolves with the version of the list.
   *
   * @param canFollow whether to list again at once when the kind turns out to have another served version
   */
  async #list(signal: AbortSignal, canFollow = true): Promise<string> {
    const newcomers = this.#subscribers.takeNewcomers();
    let comparison = this.#index.compare(this.#isConverted);
    this.#hasUnusable = false;
    const request = {
      selection: this.#selection,
      notOlderThan: this.#newest,
      onPage: async (objects: Parameters<typeof newcomers.stage>[0]) => {
        comparison.add(objects, this.#subscribers.hasLive);
        await newcomers.stage(objects);
      },
      onUnusable: (problem: string) => this.#setAside(problem),
      onRestart: () => {
        this.#hasUnusable = false;
        comparison = this.#index.compare(this.#isConverted);
        newcomers.discard();
      },
    };
    let resourceVersion: string;
    try {
      resourceVersion = await listAll(this.#deps.kube, request, signal);
    } catch (error) {
      const tried = this.#selection;
      await this.#onListFailed(error, signal);
      if (this.#selection === tried || !canFollow) {
        newcomers.refuse(error);
        throw error;
      }
      // Newcomers want the kind, not the version under which it was known.
      newcomers.discard();
      return await this.#list(signal, false);
    }
    this.#misses = 0;
    this.#isConverted = false;
    this.#isInterrupted = false;
    this.#unreachableSinceMs = undefined;
    this.#position = resourceVersion;
    this.#newest = resourceVersion;
    this.#listed = resourceVersion;
    // Taken before `admit`: newcomers get their state as a list, not as a comparison.
    const relisted = this.#subscribers.live;
    const delivered = this.#subscribers.deliver(comparison.finish(this.#hasUnusable));
    newcomers.admit();
    await delivered;
    for (const sink of relisted) sink.relisted?.();
    this.#subscribers.notify((sink) => sink.confirmed?.());
    return resourceVersion;
  }

  /**
   * Anything between us and the server may return 404, and the server itself does without a Status object where a kind is
   * not served. So only discovery decides: the kind has another version, which is followed then, or no version at all, and
   * therefore no objects. Everything else is an outage.
   */
  async #onListFailed(error: unknown, signal: AbortSignal): Promise<void> {
    if (!hasStatus(error, 404)) {
      this.#misses = 0;
      return;
    }
    let served: ApiResource | undefined;
    try {
      served = await this.#deps.rediscover(this.#wanted.resource, signal);
    } catch (problem) {
      this.#misses = 0;
      if (!signal.aborted)
        this.#deps.log.warn({ ...this.#describe(), error: problem }, 'cannot discover the kind again');
      return;
    }
    this.#misses = served === undefined ? this.#misses + 1 : 0;
    if (served !== undefined) this.#follow(served);
    if (this.#misses < MISSES_UNTIL_GONE) return;
    this.#position = undefined;
    await this.#subscribers.deliver(this.#index.compare().finish());
  }

  /** A version that was restored is preferred to the one that was followed in its place. */
  async #returnToWantedVersion(signal: AbortSignal): Promise<void> {
    const { resource } = this.#wanted;
    if (this.#selection === this.#wanted) return;
    const served = await this.#deps.rediscover(resource, signal);
    if (served?.version === resource.version) this.#follow(served);
  }

  /**
   * Switches to another served version of the kind. The position belongs to the old version, so the next
   * round lists.
   */
  #follow(resource: ApiResource): void {
    const { version, plural } = this.#selection.resource;
    if (resource.version === version && resource.plural === plural) return;
    const { resource: wanted } = this.#wanted;
    const isWanted = resource.version === wanted.version && resource.plural === wanted.plural;
    this.#selection = isWanted ? this.#wanted : { ...this.#wanted, resource };
    this.#position = undefined;
    this.#isConverted = true;
    this.#deps.log.warn(
      { ...this.#describe(), apiVersion: apiVersionOf(resource) },
      'the served versions of the kind have changed; watching another version',
    );
  }

  /**
   * One watch. Reading the next event and the arrival of a newcomer are awaited together, so that a newcomer
   * is listed for at once although the watch stays open.
   */
  async #watch(from: string, signal: AbortSignal): Promise<RoundResult> {
    const { clock } = this.#deps;
    const startedMs = clock.steadyMs();
    const close = new AbortController();
    const request = {
      selection: this.#selection,
      resourceVersion: from,
      onOpen: () => {
        this.#unreachableSinceMs = undefined;
        this.#subscribers.notify((sink) => sink.confirmed?.());
      },
    };
    const notices = watch(this.#deps, request, AbortSignal.any([signal, close.signal]));
    const listen = (): ReturnType<typeof notices.next> => {
      const notice = notices.next();
      // It may fail while something else is awaited; the await below still throws the failure.
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
          // A server that closes each watch at once, without a single event, must not be asked without a
          // pause.
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

  /** Resolves when the next notice has arrived or failed, or when a newcomer waits. */
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
   * Lists once more while the watch stays open; subscribers that have the state already get the changes. A failure concerns
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

  /** Applies one notice and moves the position on. */
  async #take(notice: Exclude<WatchNotice, { type: 'end' }>): Promise<void> {
    const { resourceVersion } = notice;
    this.#subscribers.notify((sink) => sink.confirmed?.());
    if (notice.type === 'unusable') this.#setAside(notice.problem);
    if (resourceVersion === undefined) return;
    // A list for newcomers may have overtaken the watch; what it covers must not be reported again.
    const isCovered = this.#listed === resourceVersion || isOlderVersion(resourceVersion, this.#listed);
    if (isCovered) return;
    if (notice.type === 'change') {
      await this.#subscribers.deliver(this.#index.observe(notice.change, notice.object));
    }
    if (this.#position !== undefined && isOlderVersion(resourceVersion, this.#position)) return;
    this.#position = resourceVersion;
    this.#newest = resourceVersion;
  }

  /** One object must not keep the others from being seen. */
  #setAside(problem: string): void {
    const { log, metrics } = this.#deps;
    this.#hasUnusable = true;
    metrics?.objectSetAside?.(this.#selection.resource.kind);
    log.warn({ ...this.#describe(), problem }, 'an object cannot be used; it is left out and tried again');
  }

  /** Decides from the end of a watch whether its position is still good. */
  #end(notice: Extract<WatchNotice, { type: 'end' }>): void {
    const { health, log, metrics } = this.#deps;
    metrics?.watchEnded(this.#selection.resource.kind, notice.reason);
    this.#isInterrupted ||= notice.reason === 'early' || notice.reason === 'broken';
    if (this.#hasUnusable) this.#position = undefined;
    if (notice.reason === 'closed' || notice.reason === 'early') return;
    // A broken watch says nothing about the position: what came before it was whole.
    if (notice.reason !== 'broken') this.#position = undefined;
    // Opening it again fails too, and is logged, unless the connection was only cut.
    const isCut = hasCode(notice.error, 'KUBE_UNREACHABLE');
    const level = isCut || (notice.reason === 'idle' && health.outage !== undefined) ? 'debug' : 'warn';
    log[level]({ ...this.#describe(), reason: notice.reason, detail: notice.detail }, 'watch ended');
  }

  #describe(): Record<string, unknown> {
    const { resource, namespace, labelSelector, fieldSelector } = this.#selection;
    return { kind: resource.kind, namespace, labelSelector, fieldSelector };
  }
}

/** Whether a round lasted long enough to count as a good connection. */
function isLongAgo(startedMs: number, clock: SteadyClock): boolean {
  return clock.steadyMs() - startedMs >= HEALTHY_AFTER_MS;
}
