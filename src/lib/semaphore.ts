/** Lets a few go on at a time, in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Waits for a place, then acts; the place is free again when the act has settled. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // A place that goes on to the next one is never free: nobody may come between.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
