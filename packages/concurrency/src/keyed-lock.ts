/** Lets one caller at a time in, for each key, in the order they came. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `act` when everyone before has finished with this key, unless the signal has aborted by then. */
  async run<Result>(key: string, signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    this.#tails.set(key, tail);
    try {
      await before;
      signal.throwIfAborted();
      return await act();
    } finally {
      release();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
