import type { SteadyClock } from '@addon-operator/base/clock';

/** Two moments of the steady clock, in milliseconds: at the first all runs get TERM, at the second the rest is killed. */
export interface RunDeadline {
  readonly termAtMs: number;
  readonly killAtMs: number;
}

/** Processes that end together with a right to run them. */
export interface BoundProcesses {
  /** Extends their deadline, see {@link DeadlineWatch.set}. */
  setDeadline(deadline: RunDeadline): void;
}

/** The right to run processes, where another host can take it over. */
export interface RunPermit {
  /** Throws when nothing may be started any more. */
  readonly check: () => void;
  /** Ends these processes with the right. */
  readonly follow: (processes: BoundProcesses) => void;
  /** To be called when such processes were terminated because their deadline was not extended. */
  readonly onDeadlinePassed: () => void;
}

const LOOK_MS = 1_000;

export interface DeadlineWatchOptions {
  readonly steadyClock: SteadyClock;
  /** Called once, when the first moment has come. */
  readonly onTerm: () => void;
  /** Called once, when the second moment has come. */
  readonly onKill: () => void;
}

/** Watches a deadline that is extended again and again, until it passes: then it is final. */
export class DeadlineWatch {
  readonly #options: DeadlineWatchOptions;
  #state: 'open' | 'terminated' | 'killed' = 'open';
  #deadline: RunDeadline | undefined;
  #timer = new AbortController();

  constructor(options: DeadlineWatchOptions) {
    this.#options = options;
  }

  /** Takes the place of the former deadline, unless that has passed: from then on only an earlier one is taken. */
  set(deadline: RunDeadline): void {
    if (this.hasPassed() && deadline.killAtMs >= (this.#deadline?.killAtMs ?? 0)) return;
    this.#deadline = deadline;
    this.hasPassed();
    this.#arm();
  }

  /** Acts if the deadline has passed, and returns whether it has: then no process may be started any more. */
  hasPassed(): boolean {
    if (this.#deadline === undefined) return false;
    const nowMs = this.#options.steadyClock.steadyMs();
    if (this.#state === 'open' && nowMs >= this.#deadline.termAtMs) {
      this.#state = 'terminated';
      this.#options.onTerm();
    }
    if (this.#state === 'terminated' && nowMs >= this.#deadline.killAtMs) {
      this.#state = 'killed';
      this.#options.onKill();
    }
    return this.#state !== 'open';
  }

  /** Sets the timer for the next moment. */
  #arm(): void {
    this.#timer.abort();
    this.#timer = new AbortController();
    if (this.#deadline === undefined || this.#state === 'killed') return;
    const { steadyClock } = this.#options;
    const { termAtMs, killAtMs } = this.#deadline;
    const dueMs = this.#state === 'open' ? termAtMs : killAtMs;
    // Sleeping takes no notice of a machine that is suspended, the clock does.
    const leftMs = Math.min(LOOK_MS, Math.max(0, dueMs - steadyClock.steadyMs()));
    steadyClock.sleep(leftMs, this.#timer.signal).then(
      () => {
        this.hasPassed();
        this.#arm();
      },
      () => undefined,
    );
  }
}
