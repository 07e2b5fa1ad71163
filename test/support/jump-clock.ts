import { type Clock, systemClock } from '@addon-operator/base/clock';

interface Sleeper {
  readonly ms: number;
  readonly wakeAtMs: number;
  readonly wake: AbortController;
}

/** The shortest delay of a queue after a failure. */
const LONG_MS = 5_000;
/** What a test may take from one step to the next, on a busy machine. */
const PATIENCE_MS = 30_000;

/**
 * The real clock, which a test may move forward: sleepers due by the new time wake at once. So a daemon under test
 * runs at full speed, and waits of seconds or minutes cost nothing. A sleep of 5 s or more lasts at least 30 s without a
 * jump: on a busy machine delays and time limits would end while a test looks at what is before their end.
 */
export class JumpClock implements Clock {
  #aheadMs = 0;
  readonly #sleepers = new Set<Sleeper>();
  #watchers: (() => void)[] = [];

  wallMs(): number {
    return systemClock.wallMs() + this.#aheadMs;
  }

  steadyMs(): number {
    return systemClock.steadyMs() + this.#aheadMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const sleeper: Sleeper = { ms, wakeAtMs: this.steadyMs() + ms, wake: new AbortController() };
    this.#sleepers.add(sleeper);
    for (const notify of this.#watchers.splice(0)) notify();
    try {
      const realMs = ms < LONG_MS ? ms : Math.max(ms, PATIENCE_MS);
      await systemClock.sleep(realMs, AbortSignal.any([signal, sleeper.wake.signal]));
    } catch (error) {
      if (!sleeper.wake.signal.aborted || signal.aborted) throw error;
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  /** Moves time forward by `ms`. */
  jump(ms: number): void {
    this.#aheadMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAtMs > this.steadyMs()) continue;
      // Awake from now on: it must not be found again before its own code runs.
      this.#sleepers.delete(sleeper);
      sleeper.wake.abort();
    }
  }

  /** Ends the sleeps of exactly `ms` at once, although no time passes: loops that only look whether something changed look. */
  wakeSleeps(ms: number): void {
    for (const sleeper of this.#sleepers) {
      if (sleeper.ms !== ms) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake.abort();
    }
  }

  /** Waits until a sleeper has begun to sleep for exactly `ms`. */
  async untilSleep(ms: number): Promise<void> {
    while (![...this.#sleepers].some((sleeper) => sleeper.ms === ms)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  /** Waits until a sleeper has begun to sleep for exactly `ms`, then lets that time pass. */
  async passSleep(ms: number): Promise<void> {
    await this.untilSleep(ms);
    this.jump(ms);
  }
}
