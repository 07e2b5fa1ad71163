import { type Clock, wallTimeOf } from '@addon-operator/base/clock';
import { retryDelayMs } from '@addon-operator/concurrency/backoff';
import type { ModuleName } from '../values/module-key.ts';

export interface FailedScriptsDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** The failed scripts are to be run again. */
  readonly onDue: () => void;
}

/** The failing enabled script of a module. */
export interface FailedScript {
  /** Of the first failure, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Failed attempts in a row. */
  readonly attempts: number;
}

/**
 * Enabled scripts that failed in the last discovery. With `isolate` each of them concerns its
 * module alone: the others continue. All failed scripts are run again together, after the delay of the
 * one with the fewest attempts. Discovery calls {@link note} after each pass; `onDue` queues the
 * retry.
 */
export class FailedScripts {
  readonly #deps: FailedScriptsDeps;
  /** Times on the steady clock. */
  #failed: ReadonlyMap<ModuleName, FailedScript> = new Map();
  #wait: { readonly cancel: AbortController; readonly dueMs: number } | undefined;

  constructor(deps: FailedScriptsDeps) {
    this.#deps = deps;
  }

  of(module: ModuleName): FailedScript | undefined {
    const failed = this.#failed.get(module);
    return failed && { ...failed, sinceMs: wallTimeOf(failed.sinceMs, this.#deps.clock) };
  }

  /** When they are run again, in milliseconds since the epoch; undefined while none waits for that. */
  get dueMs(): number | undefined {
    return this.#wait && wallTimeOf(this.#wait.dueMs, this.#deps.clock);
  }

  /** Called after each pass over the scripts. */
  note(failed: Iterable<ModuleName>): void {
    const nowMs = this.#deps.clock.steadyMs();
    const next = new Map<ModuleName, FailedScript>();
    for (const module of failed) {
      const { sinceMs = nowMs, attempts = 0 } = this.#failed.get(module) ?? {};
      next.set(module, { sinceMs, attempts: attempts + 1 });
    }
    this.#failed = next;
    this.stop();
    if (next.size === 0) return;
    const attempts = Math.min(...[...next.values()].map((one) => one.attempts));
    void this.#retry(retryDelayMs(attempts - 1, this.#deps.random));
  }

  /** Cancels the retry. */
  stop(): void {
    this.#wait?.cancel.abort();
    this.#wait = undefined;
  }

  async #retry(delayMs: number): Promise<void> {
    const { clock, onDue } = this.#deps;
    const cancel = new AbortController();
    this.#wait = { cancel, dueMs: clock.steadyMs() + delayMs };
    try {
      await clock.sleep(delayMs, cancel.signal);
    } catch {
      return;
    }
    this.#wait = undefined;
    onDue();
  }
}
