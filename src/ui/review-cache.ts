import type { SteadyClock } from '@addon-operator/base/clock';

/** A value, and for how long it may be used. */
export interface Reviewed<Value> {
  readonly value: Value;
  readonly ttlMs: number;
}

interface Entry<Value> {
  readonly review: Promise<Value>;
  /** Until the response has arrived, all callers share the request. */
  endsAtMs: number;
}

/** Results of access reviews, each for a short time. The oldest are forgotten first; a failure is forgotten at once. */
export class ReviewCache<Value> {
  readonly #clock: SteadyClock;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(clock: SteadyClock, maxEntries: number) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The known value of a key, or the result of `review`, which all callers share until it is there. */
  get(key: string, review: () => Promise<Reviewed<Value>>): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#clock.steadyMs() < known.endsAtMs) return known.review;
    // Counted from the request: what it says was true then.
    const sentAtMs = this.#clock.steadyMs();
    const pending = review();
    const entry: Entry<Value> = {
      review: pending.then(({ value }) => value),
      endsAtMs: Number.POSITIVE_INFINITY,
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    pending.then(
      ({ ttlMs }) => {
        entry.endsAtMs = sentAtMs + ttlMs;
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    return entry.review;
  }
}
