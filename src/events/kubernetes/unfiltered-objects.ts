/**
 * Retries of objects on which the jqFilter of a binding failed. `selection-sink.ts` adds and takes entries; a newer state
 * of the object cancels the retry of the older one. A relist makes all retries due, since it delivers current states.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';

/** An object whose jqFilter failed last. The snapshot has its last state that could be filtered, if there was one. */
export interface FilterFailure {
  readonly namespace: string;
  readonly name: string;
  readonly error: string;
  /** Failed attempts in a row. */
  readonly attempts: number;
  /** First failure in a row, in milliseconds on the steady clock. */
  readonly sinceMs: number;
  /** Next attempt without a further change of the object, in milliseconds on the steady clock. */
  readonly nextAttemptMs: number;
}

/** The latest state of an object, which could not be filtered. */
export interface UnfilteredObject {
  readonly key: string;
  readonly object: KubeObject;
  readonly failure: FilterFailure;
}

interface UnfilteredObjectsDeps {
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

interface Entry extends UnfilteredObject {
  /** Ends the pause before the next attempt. */
  readonly hurry: AbortController;
}

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 300_000;
const JITTER = 0.2;

/**
 * Pause before a filter is applied again to the same state of an object: 1 s after the first failure, doubled by each
 * further one up to 5 min, less up to a fifth of jitter. Most failures are permanent, so the pauses grow long.
 */
export function filterRetryDelayMs(attempts: number, random: () => number): number {
  const fullMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (attempts - 1));
  return Math.round(fullMs * (1 - JITTER * random()));
}

/**
 * The objects of one binding whose filter failed, marked dirty: a filter that timed out under load, or that a newer jq
 * would understand, must not cost the last state of an object. Attempts are made one at a time.
 */
export class UnfilteredObjects {
  readonly #deps: UnfilteredObjectsDeps;
  readonly #entries = new Map<string, Entry>();
  #attempts: Promise<void> = Promise.resolve();

  constructor(deps: UnfilteredObjectsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Sorted by namespace and name. */
  failures(): readonly FilterFailure[] {
    return [...this.#entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { failure }]) => failure);
  }

  /** Takes an object out because a newer state of it is known: no attempt on the older one takes effect any more. */
  take(key: string): UnfilteredObject | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.hurry.abort();
    return entry;
  }

  /**
   * Marks an object dirty.
   *
   * @param previous the last failure of the same object, if the one before failed too
   * @param retry one more attempt; it has no effect if `isCurrent` returns false afterwards
   * @param signal ends all attempts, and the object counts as failed no longer
   */
  add(
    object: { readonly key: string; readonly object: KubeObject },
    error: unknown,
    previous: FilterFailure | undefined,
    retry: (entry: UnfilteredObject, isCurrent: () => boolean) => Promise<void>,
    signal: AbortSignal,
  ): UnfilteredObject {
    const { clock, random } = this.#deps;
    const attempts = (previous?.attempts ?? 0) + 1;
    const delayMs = filterRetryDelayMs(attempts, random);
    const { namespace = '', name } = object.object.metadata;
    const nowMs = clock.steadyMs();
    const failure = {
      namespace,
      name,
      error: messageOf(error),
      attempts,
      sinceMs: previous?.sinceMs ?? nowMs,
      nextAttemptMs: nowMs + delayMs,
    };
    const entry: Entry = { ...object, failure, hurry: new AbortController() };
    this.#entries.set(object.key, entry);
    this.#retryLater(entry, delayMs, retry, signal).catch(() => undefined);
    return entry;
  }

  /** Makes all attempts due now. */
  retryAll(): void {
    for (const { hurry } of this.#entries.values()) hurry.abort();
  }

  async #retryLater(
    entry: Entry,
    delayMs: number,
    retry: (entry: UnfilteredObject, isCurrent: () => boolean) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const isCurrent = (): boolean => !signal.aborted && this.#entries.get(entry.key) === entry;
    try {
      await this.#deps.clock.sleep(delayMs, AbortSignal.any([signal, entry.hurry.signal]));
    } catch {
      // Hurried, superseded or stopped: the code below checks which.
    }
    const attempt = this.#attempts.then(async () => {
      if (isCurrent()) await retry(entry, isCurrent);
      if (signal.aborted && this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    });
    this.#attempts = attempt.catch(() => undefined);
    await attempt;
  }
}
