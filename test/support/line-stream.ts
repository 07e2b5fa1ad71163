/** Lines that a test puts in and one reader takes out; an abort rejects the reader with the signal's reason. */
export class LineStream implements AsyncIterable<string> {
  readonly #signal: AbortSignal;
  readonly #lines: string[] = [];
  #end: { readonly error: unknown } | 'ended' | undefined;
  #notify: () => void = () => undefined;
  #isHeld = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#notify(), { once: true });
  }

  push(line: string): void {
    this.#lines.push(line);
    this.#notify();
  }

  /** While held, lines wait on their way to the reader. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#notify();
  }

  /** The stream ends in good order behind the lines it has. */
  end(): void {
    this.#end = 'ended';
    this.#notify();
  }

  /** The stream breaks behind the lines it has. */
  fail(error: unknown): void {
    this.#end = { error };
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<string> {
    for (;;) {
      this.#signal.throwIfAborted();
      const line = this.#isHeld ? undefined : this.#lines.shift();
      if (line !== undefined) {
        yield line;
      } else if (this.#end === 'ended' && !this.#isHeld) {
        return;
      } else if (this.#end !== undefined && this.#end !== 'ended' && !this.#isHeld) {
        throw this.#end.error;
      } else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#notify = resolve;
        await promise;
      }
    }
  }
}
