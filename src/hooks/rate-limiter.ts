import type { SteadyClock } from '../lib/clock.ts';

/** A token bucket: full at first, one token more every `minIntervalMs`, never more than `burst`. */
export class RateLimiter {
  readonly #minIntervalMs: number;
  readonly #burst: number;
  readonly #clock: SteadyClock;
  /** When the bucket would be empty if nothing had been refilled: each token taken moves it on by one interval. */
  #theoreticalMs: number;

  constructor(limit: { readonly minIntervalMs: number; readonly burst: number }, clock: SteadyClock) {
    this.#minIntervalMs = limit.minIntervalMs;
    this.#burst = limit.burst;
    this.#clock = clock;
    this.#theoreticalMs = clock.steadyMs();
  }

  /** Takes a token; resolves when it is there. Rejects with `signal.reason` on abort, and takes none then. */
  async take(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.steadyMs();
    this.#theoreticalMs = Math.max(this.#theoreticalMs, nowMs) + this.#minIntervalMs;
    const waitMs = this.#theoreticalMs - this.#burst * this.#minIntervalMs - nowMs;
    if (waitMs <= 0) return;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      this.#theoreticalMs -= this.#minIntervalMs;
      throw error;
    }
  }
}
