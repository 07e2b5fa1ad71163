import type { SteadyClock } from '@addon-operator/base/clock';
import type { Chore } from './poll-loop.ts';

/** Runs follow each other faster while there is work. */
const REST_MS = 3_000;

/** Calls back once each time nothing has been running for a while. */
export class RestChore implements Chore {
  readonly #clock: SteadyClock;
  readonly #isBusy: () => boolean;
  readonly #onRest: () => void;
  /** Time at which the last run ended; undefined while something runs, or after the call. */
  #restsSinceMs: number | undefined;
  #isDone = false;

  constructor(clock: SteadyClock, isBusy: () => boolean, onRest: () => void) {
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#onRest = onRest;
  }

  dueMs(): number | undefined {
    if (this.#isBusy()) {
      this.#restsSinceMs = undefined;
      this.#isDone = false;
      return undefined;
    }
    if (this.#isDone) return undefined;
    this.#restsSinceMs ??= this.#clock.steadyMs();
    return this.#restsSinceMs + REST_MS;
  }

  act(): void {
    this.#isDone = true;
    this.#onRest();
  }
}
