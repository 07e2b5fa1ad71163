/**
 * Writes Kubernetes Events about Modules, in the manner of client-go's recorder: equal Events become a count, and a
 * token bucket for each module bounds the writes. Events are best effort. A refusal pauses them for five minutes.
 */

import type { Clock } from '@addon-operator/base/clock';
import { errorFields, hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { TokenBucket } from '@addon-operator/concurrency/token-bucket';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { kubeTime } from './kube-time.ts';
import { MODULE_API_VERSION, MODULE_RESOURCE } from './module-crd.ts';
import type { EventReason, RecordedEvent } from './module-events.ts';
import type { ModuleObject } from './module-object.ts';

export interface EventRecorderOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The operator that reports, `<namespace>/<ConfigMap>`. */
  readonly instance: string;
}

/** Events about objects without a namespace have to be here. */
const EVENTS = '/api/v1/namespaces/default/events';
/** The same thing again within this time is counted on the Event that is there. */
const SERIES_MS = 10 * 60_000;
/** Modules whose Events are written at the same time: fewer than statuses, which readers wait for. */
const MODULES_AT_ONCE = 4;
const BURST = 25;
const WRITE_INTERVAL_MS = 60_000;
/** A write whose connection broke is tried again so often, and after such a pause. */
const MAX_TRIES = 3;
const RETRY_MS = 1_000;
const PAUSE_AFTER_REFUSAL_MS = 5 * 60_000;

/** Events about one module, the oldest first. */
export interface RecordedEvents {
  readonly object: ModuleObject;
  readonly events: readonly RecordedEvent[];
}

interface Series {
  readonly name: string;
  readonly message: string;
  count: number;
  /** Of the last repetition, on the steady clock. */
  lastMs: number;
  /** The same, as the Event shows it. */
  lastTime: string;
}

interface ModuleRecord {
  readonly series: Map<EventReason, Series>;
  readonly writes: TokenBucket;
}

/**
 * Writes Events about Modules. Repetitions become a count, and no module gets more than 25 writes at once and one a minute
 * after that. Nothing depends on an Event: after a broken connection it is tried again twice; one that cannot be written is
 * logged once and dropped.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #modules = new Map<string, ModuleRecord>();
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isRefusalLogged = false;
  #idle: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Writes one Event. @throws `signal.reason` on abort, nothing else */
  async record(object: ModuleObject, event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const nowMs = clock.steadyMs();
    const timeMs = clock.wallMs();
    const time = kubeTime(timeMs);
    const record = this.#recordOf(object.name);
    const known = record.series.get(event.reason);
    const isSame = known?.message === event.message && nowMs - known.lastMs < SERIES_MS;
    // Counted even if the write is dropped below, so that the next write has the right count.
    if (isSame) Object.assign(known, { count: known.count + 1, lastMs: nowMs, lastTime: time });
    if (nowMs < this.#pausedUntilMs || !record.writes.tryTake()) return;
    try {
      if (isSame && (await this.#retryWrite(() => this.#count(known, signal), signal))) return;
      const create = () => this.#create(object, event, { nowMs, timeMs }, signal);
      record.series.set(event.reason, await this.#retryWrite(create, signal));
      this.#isRefusalLogged = false;
    } catch (error) {
      signal.throwIfAborted();
      this.#pausedUntilMs = nowMs + PAUSE_AFTER_REFUSAL_MS;
      const level = this.#isRefusalLogged ? 'debug' : 'warn';
      this.#isRefusalLogged = true;
      log[level](errorFields(error), 'cannot write Events about modules, they are skipped');
    }
  }

  /** Resolves when all Events that were given to {@link recordInBackground} so far are written, or their signal aborts. */
  get idle(): Promise<void> {
    return this.#idle;
  }

  /** Writes Events behind those that wait already, so that the caller can continue with statuses. Returns at once. */
  recordInBackground(recorded: readonly RecordedEvents[], signal: AbortSignal): void {
    if (recorded.length === 0) return;
    const writeAll = async (): Promise<void> => {
      await mapParallel(recorded, MODULES_AT_ONCE, async ({ object, events }) => {
        for (const event of events) await this.record(object, event, signal);
      });
    };
    // It rejects on abort only, after which no Event is wanted.
    this.#idle = this.#idle.then(writeAll).catch(() => undefined);
  }

  /** A module is gone. */
  forget(module: string): void {
    this.#modules.delete(module);
  }

  #recordOf(module: string): ModuleRecord {
    const known = this.#modules.get(module);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const writes = new TokenBucket({ intervalMs: WRITE_INTERVAL_MS, burst: BURST }, clock);
    const record = { series: new Map<EventReason, Series>(), writes };
    this.#modules.set(module, record);
    return record;
  }

  /** Repeats a write that does the same when it is done twice. */
  async #retryWrite<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write();
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === MAX_TRIES || !hasCode(error, 'KUBE_UNREACHABLE')) throw error;
        await this.#options.clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Returns whether the Event was still there. */
  async #count({ name, count, lastTime }: Series, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.kube.request(
        {
          method: 'PATCH',
          path: `${EVENTS}/${name}`,
          contentType: 'application/merge-patch+json',
          body: { count, lastTimestamp: lastTime },
        },
        signal,
      );
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }

  async #create(
    { name: module, uid, resourceVersion }: ModuleObject,
    { type, reason, message }: RecordedEvent,
    { nowMs, timeMs }: { readonly nowMs: number; readonly timeMs: number },
    signal: AbortSignal,
  ): Promise<Series> {
    const time = kubeTime(timeMs);
    const name = `${module.slice(0, 200)}.${timeMs.toString(16)}.${reason.toLowerCase()}`;
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: {
        apiVersion: MODULE_API_VERSION,
        kind: MODULE_RESOURCE.kind,
        name: module,
        uid,
        resourceVersion,
      },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: 'addon-operator' },
      reportingComponent: 'addon-operator',
      reportingInstance: this.#options.instance,
    };
    try {
      await this.#options.kube.request({ method: 'POST', path: EVENTS, body }, signal);
    } catch (error) {
      // The request before, whose response was lost, has written it.
      if (!hasStatus(error, 409)) throw error;
    }
    return { name, message, count: 1, lastMs: nowMs, lastTime: time };
  }
}
