import { type Clock, wallTimeOf } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { ModuleExplanation } from '../status/module-explanation.ts';
import { type HookRunFacts, MAX_HOOK_RUNS } from '../status/module-facts.ts';

export interface LastRun {
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly result: 'success' | 'failure';
}

/** The run in the format of explanations. */
export function shownRun(run: LastRun | undefined): ModuleExplanation['lastRun'] {
  if (run === undefined) return null;
  const { startedAtMs, durationMs, result } = run;
  return { startedAt: isoTime(startedAtMs), durationMs, result };
}

/**
 * Results of the runs of a module and of its hooks, for status and flow hooks. No decision depends
 * on it.
 */
export class RunHistory {
  #lastError = '';
  #lastRun: LastRun | undefined;
  #lastSuccessAtMs: number | undefined;
  #reconcileStartedMs: number | undefined;
  #hookRuns: readonly HookRunFacts[] = [];

  /** Why the last attempt failed; empty after a success. */
  get lastError(): string {
    return this.#lastError;
  }

  /** The last attempt of a ModuleRun that ended; undefined before. */
  get lastRun(): LastRun | undefined {
    return this.#lastRun;
  }

  /** When the last successful ModuleRun ended, in milliseconds since the epoch; undefined before. */
  get lastSuccessAtMs(): number | undefined {
    return this.#lastSuccessAtMs;
  }

  /** When the last reconcile began that had something to do, in ms since the epoch; undefined before. */
  get reconcileStartedMs(): number | undefined {
    return this.#reconcileStartedMs;
  }

  /** The last run of each binding of its hooks, the newest first; at most ten. */
  get hookRuns(): readonly HookRunFacts[] {
    return this.#hookRuns;
  }

  noteReconcile(startedMs: number): void {
    this.#reconcileStartedMs = startedMs;
  }

  noteError(message: string): void {
    this.#lastError = message;
  }

  /** Records how an attempt of a ModuleRun ended. @param startedMs on the steady clock */
  noteRun(startedMs: number, clock: Clock, result: LastRun['result']): void {
    const startedAtMs = wallTimeOf(startedMs, clock);
    const durationMs = Math.round(clock.steadyMs() - startedMs);
    this.#lastRun = { startedAtMs, durationMs, result };
    if (result === 'failure') return;
    this.#lastError = '';
    this.#lastSuccessAtMs = startedAtMs + durationMs;
  }

  /** Replaces the previous run of the same hook for the same binding. */
  noteHookRun(run: HookRunFacts): void {
    const others = this.#hookRuns.filter(({ hook, binding }) => hook !== run.hook || binding !== run.binding);
    this.#hookRuns = [run, ...others].slice(0, MAX_HOOK_RUNS);
  }
}
