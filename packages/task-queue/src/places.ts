/**
 * Limits how many of the queues for keys run a task at a time. Free places go to the queues in the order of their requests,
 * and a queue requests a place for each attempt, so keys take turns.
 */
export class Places {
  #limit: number;
  #taken = 0;
  #isClosed = false;
  readonly #waiting = new Set<(isGiven: boolean) => void>();
  readonly #closeListeners = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A larger limit lets queues go on at once. A smaller one counts as soon as places are given back. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#giveFree();
  }

  /** Waits for a place. Returns the function that gives it back, or undefined if there will be none because all queues stop. */
  async take(): Promise<(() => void) | undefined> {
    if (!(await this.#isGiven())) return undefined;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken -= 1;
      this.#giveFree();
    };
  }

  /** Ends all waits, and gives no more places. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#waiting) end(false);
    this.#waiting.clear();
    for (const listener of this.#closeListeners) listener();
  }

  /**
   * Calls `listener` when the places are closed. Thousands of queues listen here and not to one AbortSignal, which looks through
   * all its listeners when one is added or removed.
   *
   * @returns a function that removes the listener
   */
  onClose(listener: () => void): () => void {
    this.#closeListeners.add(listener);
    return () => void this.#closeListeners.delete(listener);
  }

  async #isGiven(): Promise<boolean> {
    if (this.#isClosed) return false;
    if (this.#taken >= this.#limit || this.#waiting.size > 0) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      this.#waiting.add(resolve);
      return await promise;
    }
    this.#taken += 1;
    return true;
  }

  #giveFree(): void {
    for (const give of this.#waiting) {
      if (this.#taken >= this.#limit) return;
      this.#waiting.delete(give);
      this.#taken += 1;
      give(true);
    }
  }
}
