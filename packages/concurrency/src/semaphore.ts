/** Lets a limited number of calls run at a time, in the order in which they came; with one place it is a lock. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Waits for a place, then acts; the place is free again when the act has settled.
   *
   * @throws `signal.reason` when the signal aborts before there is a place; the act is not started then
   */
  async run<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free === 0) await this.#untilPlace(signal);
    else this.#free -= 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // The place is passed to the next caller without becoming free, so that no later caller can take it.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #untilPlace(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(onPlace), 1);
        reject(signal?.reason);
      };
      const onPlace = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.push(onPlace);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
