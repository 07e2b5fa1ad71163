import type { SteadyClock } from '@addon-operator/base/clock';

/** Ends the sleep of a loop when what it waits for has changed. */
export class Wakeup {
  #next = Promise.withResolvers<void>();

  /**
   * Resolves at the next {@link wake}. To be taken before the state is read that says how long to sleep: a change in between
   * ends the sleep then.
   */
  get next(): Promise<void> {
    return this.#next.promise;
  }

  wake(): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers<void>();
    resolve();
  }
}

/** Sleeps for `ms` milliseconds, or until `woken` resolves, and returns what came first. Rejects with `signal.reason` on abort. */
export async function sleepOrWake(
  clock: Pick<SteadyClock, 'sleep'>,
  ms: number,
  woken: Promise<void>,
  signal: AbortSignal,
): Promise<'slept' | 'woken'> {
  const awake = new AbortController();
  try {
    return await Promise.race([
      woken.then(() => 'woken' as const),
      clock.sleep(ms, AbortSignal.any([signal, awake.signal])).then(() => 'slept' as const),
    ]);
  } finally {
    awake.abort();
  }
}
