/** Counts the Synchronization runs that something has to wait for. */
export class Synchronization {
  #pending = 0;
  #waiters: (() => void)[] = [];

  get isDone(): boolean {
    return this.#pending === 0;
  }

  expect(): void {
    this.#pending += 1;
  }

  done(): void {
    if (this.isDone) return;
    this.#pending -= 1;
    if (this.isDone) for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves when nothing is pending any more. */
  whenDone(): Promise<void> {
    if (this.isDone) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return promise;
  }
}
