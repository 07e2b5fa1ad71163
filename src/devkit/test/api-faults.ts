import { OperatorError } from '@addon-operator/base/errors';
import { refusal } from '@addon-operator/kube-client/api-refusal';
import type { KubeClient, KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { ApiState } from '../../tools/hook-test/hook-test.ts';

const AWAY = 'the API server is down (step api)';
const UNAVAILABLE = 503;
const REASONS: Readonly<Record<number, string>> = {
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A response without a body of the API. */
export interface FaultResponse {
  readonly type: 'body';
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** Makes the API server go away, come back, or refuse the next writes of the hook. */
export class ApiFaults {
  #isDown = false;
  /** Of the watches. */
  readonly #streams = new Set<AbortController>();
  #refusals: { readonly status: number; left: number }[] = [];

  set(state: ApiState): void {
    this.#isDown = state === 'down';
    this.#refusals =
      typeof state === 'string'
        ? []
        : Object.entries(state).map(([status, left]) => ({ status: Number(status), left }));
    // Requests are refused already when the watches end.
    if (this.#isDown) for (const ended of this.#streams) ended.abort();
  }

  /** The fault that a client of the hook itself gets in place of a response; undefined if the API handles the request. */
  response(method: string): FaultResponse | undefined {
    const status = this.#isDown ? UNAVAILABLE : this.#nextRefusal(method);
    if (status === undefined) return undefined;
    const headers: Record<string, string> = status === UNAVAILABLE ? {} : { 'Retry-After': '1' };
    return {
      type: 'body',
      status,
      contentType: 'application/json',
      text: bodyOf(status),
      headers,
      warnings: [],
    };
  }

  /**
   * The same client, as far as the API is there for it.
   *
   * @param isOfHook whether it writes what the hook wrote: only such writes are refused
   */
  around(kube: KubeClient, isOfHook: boolean): KubeClient {
    return {
      request: async (request, signal) => {
        this.#check(request);
        const status = isOfHook ? this.#nextRefusal(request.method) : undefined;
        if (status !== undefined)
          throw refusal(`${request.method} ${request.path}`, {
            status,
            body: bodyOf(status),
            retryAfter: '1',
          });
        return await kube.request(request, signal);
      },
      stream: async (request, signal) => {
        this.#check(request);
        const ended = new AbortController();
        const lines = await kube.stream(request, AbortSignal.any([signal, ended.signal]));
        this.#streams.add(ended);
        return this.#followed(lines, ended, signal);
      },
    };
  }

  async *#followed(
    lines: AsyncIterable<string>,
    ended: AbortController,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    try {
      yield* lines;
    } catch (error) {
      if (ended.signal.aborted && !signal.aborted) throw away();
      throw error;
    } finally {
      this.#streams.delete(ended);
    }
  }

  #check({ method, path }: KubeRequest): void {
    if (this.#isDown) throw away(`${method} ${path}`);
  }

  #nextRefusal(method: string): number | undefined {
    if (method === 'GET') return undefined;
    const next = this.#refusals.find(({ left }) => left > 0);
    if (next === undefined) return undefined;
    next.left -= 1;
    return next.status;
  }
}

function away(title?: string): OperatorError {
  return new OperatorError('KUBE_UNREACHABLE', title === undefined ? AWAY : `${title}: ${AWAY}`);
}

function bodyOf(status: number): string {
  const reason = REASONS[status] ?? '';
  const message = status === UNAVAILABLE ? AWAY : `refused with ${status} by the test (step api)`;
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    message,
    code: status,
  });
}
