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

/** Receives the findings of an {@link ApiHealth}. */
export interface ApiHealthListener {
  /** A request succeeded. */
  readonly succeeded?: () => void;
  readonly outageBegan?: (outage: ApiOutage) => void;
  /** There was a response again, whatever its status. */
  readonly outageEnded?: (durationMs: number) => void;
}

/** One connection may be reset, or one request time out, while the API server is well. */
const MIN_FAILURES = 2;
/** Shorter outages, such as the restart of one API server behind a load balancer, are not reported. */
export const MIN_OUTAGE_MS = 5_000;
/** A watch that fails is opened again within a minute, so without a failure for that long there is no outage. */
const FORGOTTEN_AFTER_MS = 120_000;

/** Detects outages of the API server from the requests that are sent anyway. */
export class ApiHealth {
  readonly #clock: SteadyClock;
  #failures = 0;
  #firstMs = 0;
  #lastMs = 0;
  #error = '';
  /** The begin of an outage was reported, and not yet its end. */
  #isOut = false;
  readonly #listeners = new Set<ApiHealthListener>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Takes note of a request that ended. One that its caller aborted says nothing. */
  observe({ status, error }: RequestOutcome): void {
    if (status !== undefined) this.#hear(status);
    else if (hasCode(error, 'KUBE_UNREACHABLE')) this.#miss(messageOf(error));
  }

  /** @returns what ends the subscription */
  subscribe(listener: ApiHealthListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A response of any status ends an outage. */
  #hear(status: number): void {
    // The failures may have become an outage by age alone, and `outage` may have been read since.
    this.#report(this.outage);
    this.#failures = 0;
    const wasOut = this.#isOut;
    this.#isOut = false;
    const durationMs = this.#clock.steadyMs() - this.#firstMs;
    for (const listener of this.#listeners) {
      if (wasOut) listener.outageEnded?.(durationMs);
      if (status >= 200 && status < 300) listener.succeeded?.();
    }
  }

  /** A request without a response; the first of a row is the start of a possible outage. */
  #miss(error: string): void {
    this.#lastMs = this.#clock.steadyMs();
    if (this.#failures === 0) this.#firstMs = this.#lastMs;
    this.#failures += 1;
    this.#error = error;
    this.#report(this.outage);
  }

  /** Reports an outage once. */
  #report(outage: ApiOutage | undefined): void {
    if (outage === undefined || this.#isOut) return;
    this.#isOut = true;
    for (const { outageBegan } of this.#listeners) outageBegan?.(outage);
  }

  /** Defined when at least two requests in a row had no response, and the first of them ended 5 s ago or earlier. */
  get outage(): ApiOutage | undefined {
    const nowMs = this.#clock.steadyMs();
    const durationMs = nowMs - this.#firstMs;
    if (this.#failures < MIN_FAILURES || durationMs < MIN_OUTAGE_MS) return undefined;
    return nowMs - this.#lastMs > FORGOTTEN_AFTER_MS ? undefined : { error: this.#error, durationMs };
  }
}
