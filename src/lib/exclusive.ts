/** Runs one asynchronous piece of work after the other, in the order they were handed in. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `work` does. A failure does not stop those that wait. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
