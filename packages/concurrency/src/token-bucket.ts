import type { SteadyClock } from '@addon-operator/base/clock';

export interface TokenBucketOptions {
  /** One token is added in this time; 0: no limit. */
  readonly intervalMs: number;
  /** Tokens that can be saved; the bucket is full at first. At least 1. */
  readonly burst: number;
}

/** Limits a rate. Callers pass in the order in which they called. */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burst: number;
  readonly #clock: SteadyClock;
  /** When the bucket is full again: each token taken moves it on by one interval. */
  #fullAtMs: number;

  constructor({ intervalMs, burst }: TokenBucketOptions, clock: SteadyClock) {
    this.#intervalMs = intervalMs;
    this.#burst = burst;
    this.#clock = clock;
    this.#fullAtMs = clock.steadyMs();
  }

  /** Takes a token, waiting for it if necessary. Rejects with `signal.reason` on abort, without taking a token. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waitMs = this.#untilTokenMs();
    this.#moveOn();
    if (waitMs <= 0) return;
    try {
      await this.#clock.sleep(Math.ceil(waitMs), signal);
    } catch (error) {
      this.#fullAtMs -= this.#intervalMs;
      throw error;
    }
  }

  /** Takes a token if there is one, and returns whether there was. */
  tryTake(): boolean {
    if (this.#untilTokenMs() > 0) return false;
    this.#moveOn();
    return true;
  }

  #untilTokenMs(): number {
    const untilFullMs = Math.max(0, this.#fullAtMs - this.#clock.steadyMs());
    return untilFullMs - (this.#burst - 1) * this.#intervalMs;
  }

  #moveOn(): void {
    this.#fullAtMs = Math.max(this.#fullAtMs, this.#clock.steadyMs()) + this.#intervalMs;
  }
}
