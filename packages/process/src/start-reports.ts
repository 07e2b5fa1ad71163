import type { SteadyClock } from '@addon-operator/base/clock';
import type { Chore } from './poll-loop.ts';

/** Most hooks have ended by then. */
const DELAY_MS = 10;

/**
 * Reports the start of a process only if it still runs after a while: what the report is for, its time limit and its end
 * should the launcher be lost, matters to long runs, and each frame wakes the daemon.
 */
export class StartReports implements Chore {
  readonly #clock: SteadyClock;
  readonly #report: (run: number) => void;
  /** When to report, by run, the earliest first. */
  readonly #dueMs = new Map<number, number>();

  constructor(clock: SteadyClock, report: (run: number) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(run: number): void {
    this.#dueMs.set(run, this.#clock.steadyMs() + DELAY_MS);
  }

  delete(run: number): void {
    this.#dueMs.delete(run);
  }

  dueMs(): number | undefined {
    for (const dueMs of this.#dueMs.values()) return dueMs;
    return undefined;
  }

  act(): void {
    const nowMs = this.#clock.steadyMs();
    for (const [run, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) return;
      this.#dueMs.delete(run);
      this.#report(run);
    }
  }
}
