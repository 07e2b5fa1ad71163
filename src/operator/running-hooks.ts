import type { SteadyClock } from '@addon-operator/base/clock';
import type { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { HookRunLabels } from '../metrics/operator-metrics.ts';

/** A hook that runs now. */
export interface RunningHook {
  readonly labels: HookRunLabels;
  readonly log: Logger;
  /** On the wall clock, to show it. */
  readonly startedAtMs: number;
  /** Ends the run; it fails with the error. */
  readonly abort: (error: OperatorError) => void;
}

interface Entry extends RunningHook {
  readonly startedMs: number;
  isWarned: boolean;
}

/** Hooks have no time limit unless one is set: one that runs this long is likely to hang. */
export const LONG_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

/** The hooks that run now, so that one that hangs is visible although nothing ends it. */
export class RunningHooks {
  readonly #clock: SteadyClock;
  readonly #entries = new Set<Entry>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** The longest running first. */
  get all(): readonly RunningHook[] {
    return [...this.#entries];
  }

  /** The same, with how long each has been running, in milliseconds. */
  get withAges(): readonly (RunningHook & { readonly runningMs: number })[] {
    return [...this.#entries].map((entry) => ({ ...entry, runningMs: this.#ageMs(entry) }));
  }

  /** Remembers a hook until the returned function is called. */
  add(hook: RunningHook): () => void {
    const entry = { ...hook, startedMs: this.#clock.steadyMs(), isWarned: false };
    this.#entries.add(entry);
    return () => this.#entries.delete(entry);
  }

  /** Warns, once for each run, of hooks that have been running for more than ten minutes. */
  warnOfLong(): void {
    for (const entry of this.#long()) {
      if (entry.isWarned) continue;
      entry.isWarned = true;
      entry.log.warn(
        { runningMs: this.#ageMs(entry) },
        'hook has been running for more than ten minutes; set a time limit if it hangs (--hook-timeout)',
      );
    }
  }

  /** What a module waits for: its own hooks that have been running for more than ten minutes. */
  longOf(module: string): readonly string[] {
    return this.#long()
      .filter(({ labels }) => labels.module === module)
      .map((entry) => {
        const { hook, binding } = entry.labels;
        const minutes = Math.floor(this.#ageMs(entry) / MINUTE_MS);
        return `the end of its hook ${hook} (${binding}), which has been running for ${minutes} minutes`;
      });
  }

  #long(): readonly Entry[] {
    return [...this.#entries].filter((entry) => this.#ageMs(entry) >= LONG_MS);
  }

  #ageMs({ startedMs }: Entry): number {
    return this.#clock.steadyMs() - startedMs;
  }
}
