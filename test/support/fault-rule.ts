import type { ApiVerb } from './api-verb.ts';

/** What happens to a matching request instead of, or besides, being forwarded. */
export type Fault =
  /** Forwarded after this time. */
  | { readonly type: 'delay'; readonly ms: number }
  /** Forwarded once the rule is released. */
  | { readonly type: 'hold' }
  /** Answered with a Status object, not forwarded. */
  | { readonly type: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Answered with an HTML page, as by a proxy that knows no such path, not forwarded. */
  | { readonly type: 'page'; readonly status: number }
  /** Answered with 200 and a body that ends in good order before its first byte, not forwarded. */
  | { readonly type: 'end' }
  /** The connection is reset, nothing is forwarded. */
  | { readonly type: 'rst' }
  /** Never answered, not forwarded. */
  | { readonly type: 'blackhole' }
  /** The connection is closed after so many bytes of the response's body. */
  | { readonly type: 'cut-after-bytes'; readonly bytes: number }
  /** Forwarded, and the response is replaced by this status: the write happened, the client does not know. */
  | { readonly type: 'apply-then-fail'; readonly status: number };

/** Which requests a rule concerns; what is left out matches everything. */
export interface FaultMatch {
  readonly verb?: ApiVerb;
  /** Tried on the path without query. */
  readonly path?: RegExp;
  /** Tried on the query, without the question mark. */
  readonly query?: RegExp;
  /** How many matching requests pass unharmed first. Default 0. */
  readonly skip?: number;
  /** How many requests are hit then. Default: all. */
  readonly times?: number;
}

export interface ProxiedRequest {
  readonly verb: ApiVerb;
  readonly path: string;
  readonly query: string;
}

/** A fault in force, counting whom it hit. */
export class FaultRule {
  readonly fault: Fault;
  readonly #match: FaultMatch;
  readonly #released = Promise.withResolvers<void>();
  #watchers: (() => void)[] = [];
  #seen = 0;
  #hits = 0;

  constructor(match: FaultMatch, fault: Fault) {
    this.#match = match;
    this.fault = fault;
  }

  /** How many requests were hit so far. */
  get hits(): number {
    return this.#hits;
  }

  /** Counts the request if it matches, and returns whether it is hit. */
  hit({ verb, path, query }: ProxiedRequest): boolean {
    const match = this.#match;
    if (match.verb !== undefined && match.verb !== verb) return false;
    if (match.path?.test(path) === false || match.query?.test(query) === false) return false;
    this.#seen += 1;
    const skip = match.skip ?? 0;
    if (this.#seen <= skip || this.#seen > skip + (match.times ?? Number.POSITIVE_INFINITY)) return false;
    this.#hits += 1;
    for (const notify of this.#watchers.splice(0)) notify();
    return true;
  }

  /** Resolves when `count` requests were hit. */
  async untilHit(count = 1): Promise<void> {
    while (this.#hits < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  /** Lets held requests go on, now and later. */
  release(): void {
    this.#released.resolve();
  }

  /** Resolves with the release. */
  get released(): Promise<void> {
    return this.#released.promise;
  }
}
