/**
 * Polls one resource that the stream does not contain, such as the values of a module. Requests never overlap, and several
 * refreshes during a request cause one more. An error keeps the last data.
 */

import { ApiError, read } from './api.ts';
import { noteSignedOut } from './live.ts';

export interface Responded<Result> {
  /** The last one, also while it is read again. */
  readonly data: Result | undefined;
  readonly error: ApiError | undefined;
}

const SHORTEST_PAUSE_MS = 400;

/** Reads one response of the API again and again: at once, then at most every 400 ms, one request at a time. */
export class ResponseReader<Result> {
  readonly #path: string;
  readonly #onResponse: (responded: Responded<Result>) => void;
  readonly #stopped = new AbortController();
  #data: Result | undefined;
  #isWanted = false;
  #isBusy = false;

  constructor(path: string, onResponse: (responded: Responded<Result>) => void) {
    this.#path = path;
    this.#onResponse = onResponse;
  }

  /** Reads again; returns at once. */
  refresh(): void {
    this.#isWanted = true;
    if (!this.#isBusy) void this.#run();
  }

  /** Aborts a request in progress; its response is dropped. */
  stop(): void {
    this.#stopped.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    this.#isBusy = true;
    while (this.#isWanted && !signal.aborted) {
      this.#isWanted = false;
      await this.#readOnce(signal);
      await new Promise((resolve) => setTimeout(resolve, SHORTEST_PAUSE_MS));
    }
    this.#isBusy = false;
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    try {
      this.#data = await read<Result>(this.#path, signal);
      if (!signal.aborted) this.#onResponse({ data: this.#data, error: undefined });
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof ApiError ? error : new ApiError(0, '', String(error));
      if (problem.status === 401) noteSignedOut(problem);
      this.#onResponse({ data: this.#data, error: problem });
    }
  }
}
