import { type Clock, systemClock } from '../../src/lib/clock.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: AbortController;
}

/**
 * The real clock, which a test may move forward: whoever sleeps past the new time wakes at once. So a daemon under test
 * runs at full speed, and waits of seconds or minutes cost nothing.
 */
export class JumpClock implements Clock {
  #aheadMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const sleeper: Sleeper = { wakeAtMs: this.now() + ms, wake: new AbortController() };
    this.#sleepers.add(sleeper);
    try {
      await systemClock.sleep(ms, AbortSignal.any([signal, sleeper.wake.signal]));
    } catch (error) {
      if (!sleeper.wake.signal.aborted || signal.aborted) throw error;
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  /** Moves time forward by `ms`. */
  jump(ms: number): void {
    this.#aheadMs += ms;
    for (const sleeper of this.#sleepers) if (sleeper.wakeAtMs <= this.now()) sleeper.wake.abort();
  }
}
