import { ApiError, read } from './api.ts';
import { link } from './live.ts';

export interface Answered<Answer> {
  /** The last one, also while it is read again. */
  readonly data: Answer | undefined;
  readonly error: ApiError | undefined;
}

const SHORTEST_PAUSE_MS = 400;

/** Reads one answer of the API again and again: at once, then at most every 400 ms, one request at a time. */
export class AnswerReader<Answer> {
  readonly #path: string;
  readonly #onAnswer: (answered: Answered<Answer>) => void;
  readonly #stopped = new AbortController();
  #data: Answer | undefined;
  #isWanted = false;
  #isBusy = false;

  constructor(path: string, onAnswer: (answered: Answered<Answer>) => void) {
    this.#path = path;
    this.#onAnswer = onAnswer;
  }

  refresh(): void {
    this.#isWanted = true;
    if (!this.#isBusy) void this.#run();
  }

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
      this.#data = await read<Answer>(this.#path, signal);
      if (!signal.aborted) this.#onAnswer({ data: this.#data, error: undefined });
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof ApiError ? error : new ApiError(0, '', String(error));
      if (problem.status === 401) link.value = 'refused';
      this.#onAnswer({ data: this.#data, error: problem });
    }
  }
}
