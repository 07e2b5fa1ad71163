import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@addon-operator/base/clock';

/** Turns of the event loop without anything new after which nothing more can come. */
const QUIET_TURNS = 3;

/** Counts what is under way, so that no test has to wait for a time to know that all is quiet. */
export class Activity {
  #underWay = 0;
  #turns = 0;
  #waiters: (() => void)[] = [];

  /** Something begins; the result ends it. */
  begin(): () => void {
    this.#underWay += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#leave();
    };
  }

  /** Something happened that may lead to more. */
  touch(): void {
    this.#turns = 0;
  }

  /** Resolves when nothing is under way, and nothing new has begun for some turns of the event loop. */
  async whenQuiet(): Promise<void> {
    this.touch();
    while (this.#turns < QUIET_TURNS) {
      if (this.#underWay > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#waiters.push(resolve);
        await promise;
      }
      this.#turns += 1;
      await setImmediate();
    }
  }

  /** The same clock, on which sleepers are not under way; to be used by work that is counted. */
  idleIn(clock: Clock): Clock {
    return {
      wallMs: () => clock.wallMs(),
      steadyMs: () => clock.steadyMs(),
      sleep: async (ms, signal) => {
        this.#leave();
        try {
          await clock.sleep(ms, signal);
        } finally {
          this.#underWay += 1;
          this.touch();
        }
      },
    };
  }

  #leave(): void {
    this.#underWay -= 1;
    this.touch();
    if (this.#underWay === 0) for (const wake of this.#waiters.splice(0)) wake();
  }
}
