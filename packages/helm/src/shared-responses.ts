import type { SteadyClock } from '@addon-operator/base/clock';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';

interface SharedResponse<Value> {
  readonly value: Promise<Value>;
  readonly sentAtMs: number;
  /** Signal of the reader that sent the request. */
  readonly signal: AbortSignal;
}

/** Responses of the API server that several readers share: while one is fresh or under way, no further request is sent. */
export class SharedResponses<Value> {
  readonly #clock: SteadyClock;
  readonly #maxAgeMs: number;
  readonly #responses = new Map<string, SharedResponse<Value>>();

  /** @param maxAgeMs how long a response is fresh, counted from the request */
  constructor(clock: SteadyClock, maxAgeMs: number) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Whether a fresh response is known or under way. */
  has(request: string): boolean {
    return this.#fresh(request) !== undefined;
  }

  /**
   * The response to a request. All readers that wait for it share its failure; later readers send a new request.
   *
   * @param signal the one that `read` ends with; a reader whose signal aborts takes only itself down
   */
  async get(request: string, read: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const known = this.#fresh(request);
    if (known === undefined) return await this.#send(request, read, signal);
    try {
      return await resultOrAbort(known.value, signal);
    } catch (error) {
      if (!known.signal.aborted || signal.aborted) throw error;
      return await this.get(request, read, signal);
    }
  }

  clear(): void {
    this.#responses.clear();
  }

  #send(request: string, read: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const value = read();
    const response = { value, sentAtMs: this.#clock.steadyMs(), signal };
    this.#responses.set(request, response);
    value.catch(() => {
      if (this.#responses.get(request) === response) this.#responses.delete(request);
    });
    return value;
  }

  #fresh(request: string): SharedResponse<Value> | undefined {
    const response = this.#responses.get(request);
    return response !== undefined && isFresh(response.sentAtMs, this.#maxAgeMs, this.#clock)
      ? response
      : undefined;
  }
}

/** Whether less time than `maxAgeMs` has passed. */
export function isFresh(sinceMs: number, maxAgeMs: number, clock: SteadyClock): boolean {
  return clock.steadyMs() - sinceMs < maxAgeMs;
}
