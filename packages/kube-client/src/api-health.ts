import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, messageOf } from '@addon-operator/base/errors';

/** The API server gives no response. */
export interface ApiOutage {
  /** Why the last request had none. */
  readonly error: string;
  /** Time since the first request without a response. */
  readonly durationMs: number;
}

/** How a request ended: with a response, whatever its status, or with an error. */
export interface RequestOutcome {
  readonly status: number | undefined;
  readonly error?: unknown;
}

/** One connection may be reset, or one request time out, while the API server is well. */
const MIN_FAILURES = 2;
const MIN_OUTAGE_MS = 5_000;
/** A watch that fails is opened again within a minute, so without a failure for that long there is no outage. */
const FORGOTTEN_AFTER_MS = 120_000;

/** Whether the API server responds at all, learned from the requests that are sent anyway. */
export class ApiHealth {
  readonly #clock: SteadyClock;
  #failures = 0;
  #firstMs = 0;
  #lastMs = 0;
  #error = '';

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Takes note of a request that ended. One that its caller aborted says nothing. */
  observe({ status, error }: RequestOutcome): void {
    if (status !== undefined) this.#failures = 0;
    else if (hasCode(error, 'KUBE_UNREACHABLE')) {
      this.#lastMs = this.#clock.steadyMs();
      if (this.#failures === 0) this.#firstMs = this.#lastMs;
      this.#failures += 1;
      this.#error = messageOf(error);
    }
  }

  /** Defined when at least two requests in a row had no response, and the first of them ended 5 s ago or earlier. */
  get outage(): ApiOutage | undefined {
    const nowMs = this.#clock.steadyMs();
    const durationMs = nowMs - this.#firstMs;
    if (this.#failures < MIN_FAILURES || durationMs < MIN_OUTAGE_MS) return undefined;
    return nowMs - this.#lastMs > FORGOTTEN_AFTER_MS ? undefined : { error: this.#error, durationMs };
  }
}
