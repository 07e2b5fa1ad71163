import type { SteadyClock } from '../lib/clock.ts';

interface TokenBucketOptions {
  /** Requests per second in the long run; 0 or less: no limit. */
  readonly qps: number;
  /** Requests that may be sent at once after a pause; at least 1. */
  readonly burst: number;
  readonly clock: SteadyClock;
}

/** A limit on the rate of requests. Callers pass in the order in which they came. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  /** May be negative: the tokens that waiting callers have already reserved. */
  #tokens: number;
  #countedAtMs: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = Math.max(1, options.burst);
    this.#countedAtMs = options.clock.steadyMs();
  }

  /** Resolves when one more request may be sent; rejects with `signal.reason` on abort, taking no token. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { clock, qps, burst } = this.#options;
    if (qps <= 0) return;
    const nowMs = clock.steadyMs();
    const passedMs = nowMs - this.#countedAtMs;
    this.#tokens = Math.min(Math.max(1, burst), this.#tokens + (passedMs * qps) / 1000);
    this.#countedAtMs = nowMs;
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await clock.sleep(Math.ceil((-this.#tokens * 1000) / qps), signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
