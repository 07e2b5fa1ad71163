import type { SteadyClock } from '../lib/clock.ts';
import { resultOrAbort } from '../lib/result-or-abort.ts';

interface Answer<Value> {
  readonly value: Promise<Value>;
  readonly askedAtMs: number;
  /** Signal of the reader that sent the request. */
  readonly signal: AbortSignal;
}

/** Responses of the API server that several readers share: while one is fresh or under way, no further request is sent. */
export class SharedAnswers<Value> {
  readonly #clock: SteadyClock;
  readonly #maxAgeMs: number;
  readonly #answers = new Map<string, Answer<Value>>();

  /** @param maxAgeMs how long a response is fresh, counted from the request */
  constructor(clock: SteadyClock, maxAgeMs: number) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Whether a fresh response is known or under way. */
  has(question: string): boolean {
    return this.#fresh(question) !== undefined;
  }

  /**
   * The response to a request. All readers that wait for it share its failure; later readers send a new request.
   *
   * @param signal the one that `read` ends with; a reader whose signal aborts takes only itself down
   */
  async get(question: string, read: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const known = this.#fresh(question);
    if (known === undefined) return await this.#ask(question, read, signal);
    try {
      return await resultOrAbort(known.value, signal);
    } catch (error) {
      if (!known.signal.aborted || signal.aborted) throw error;
      return await this.get(question, read, signal);
    }
  }

  clear(): void {
    this.#answers.clear();
  }

  #ask(question: string, read: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const value = read();
    const answer = { value, askedAtMs: this.#clock.steadyMs(), signal };
    this.#answers.set(question, answer);
    value.catch(() => {
      if (this.#answers.get(question) === answer) this.#answers.delete(question);
    });
    return value;
  }

  #fresh(question: string): Answer<Value> | undefined {
    const answer = this.#answers.get(question);
    return answer !== undefined && isFresh(answer.askedAtMs, this.#maxAgeMs, this.#clock)
      ? answer
      : undefined;
  }
}

/** Whether less time than `maxAgeMs` has passed. */
export function isFresh(sinceMs: number, maxAgeMs: number, clock: SteadyClock): boolean {
  return clock.steadyMs() - sinceMs < maxAgeMs;
}
