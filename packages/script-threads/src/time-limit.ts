import type { SteadyClock } from '@addon-operator/base/clock';

/** Limits the duration of work, not counting the times in which it waits for the main process. */
export class TimeLimit {
  readonly #clock: SteadyClock;
  readonly #onOver: () => void;
  #leftMs: number;
  #startedMs = 0;
  #timer: AbortController | undefined;
  #pauses = 0;

  /** Runs from now on; `onOver` is called once `limitMs` are used up. */
  constructor(limitMs: number, clock: SteadyClock, onOver: () => void) {
    this.#leftMs = limitMs;
    this.#clock = clock;
    this.#onOver = onOver;
    this.#start();
  }

  /** Each pause has its own end; time counts again when no pause is left. */
  pause(): void {
    this.#pauses += 1;
    if (this.#timer === undefined) return;
    this.#leftMs -= this.#clock.steadyMs() - this.#startedMs;
    this.#stop();
  }

  /** Ends one pause. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#start();
  }

  /** It is not called any more. */
  end(): void {
    // No pause that is still open starts it again.
    this.#pauses = Number.POSITIVE_INFINITY;
    this.#stop();
  }

  /** Starts the timer with the remaining time. */
  #start(): void {
    this.#startedMs = this.#clock.steadyMs();
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(Math.max(0, this.#leftMs), timer.signal).then(
      () => {
        if (!timer.signal.aborted) this.#onOver();
      },
      () => undefined,
    );
  }

  #stop(): void {
    // Without a reason of ours each abort would make an exception of its own.
    this.#timer?.abort('the time limit is off');
    this.#timer = undefined;
  }
}
