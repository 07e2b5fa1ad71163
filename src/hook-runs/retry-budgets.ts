import type { SteadyClock } from '@addon-operator/base/clock';
import { factsOf, hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import { withRemark } from '@addon-operator/strings/headline';
import { isIndependent, kindFactsOf } from '../hook-config/binding-kinds.ts';
import type { RetryLimits } from '../hook-config/hook-config.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { HookRun } from '../model/tasks.ts';

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/**
 * Counts the failures in a row of hooks with `settings.retry`, for each queue and lifecycle
 * binding. When the limit is reached, the failure becomes final. The counts are in memory: a
 * restart of the operator resets them.
 */
export class RetryBudgets {
  readonly #clock: SteadyClock;
  readonly #failures = new WeakMap<HookRuntime, Map<string, Failures>>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Called after each successful run. */
  succeeded(run: HookRun, queue: string): void {
    if (run.hook.hook.config.settings.retry !== undefined) this.#of(run.hook).delete(keyOf(run, queue));
  }

  /** The error of a failed run: the original one, or one that says that the retries are used up. */
  failed(run: HookRun, queue: string, error: unknown): unknown {
    const limits = run.hook.hook.config.settings.retry;
    // An allowed failure is not retried, unless the hook asks for it with `retryAfter`.
    if (limits === undefined || (run.allowFailure && !isNotYet(error))) return error;
    const known = this.#of(run.hook);
    const key = keyOf(run, queue);
    const nowMs = this.#clock.steadyMs();
    const failures = known.get(key) ?? { count: 0, sinceMs: nowMs };
    failures.count += 1;
    const usedUp = isFinal(error) ? 'it says so' : usedUpText(limits, failures, nowMs);
    if (usedUp === undefined) known.set(key, failures);
    else known.delete(key);
    return usedUp === undefined || isFinal(error) ? error : exhausted(error, usedUp);
  }

  #of(hook: HookRuntime): Map<string, Failures> {
    const known = this.#failures.get(hook) ?? new Map<string, Failures>();
    this.#failures.set(hook, known);
    return known;
  }
}

/**
 * Whether a failed run is dropped because its failure is allowed, or because of
 * `settings.retry.onExhausted`.
 */
export function isDroppedOnPurpose({ hook, allowFailure, reasons }: HookRun, error: unknown): boolean {
  if (allowFailure) return true;
  if (!hasCode(error, 'HOOK_RETRIES_EXHAUSTED')) return false;
  if (hook.hook.config.settings.retry?.onExhausted !== 'drop') return false;
  return isIndependent(reasons);
}

/**
 * Runs for events and schedules of one queue share a count, as they run one after another;
 * lifecycle bindings have their own.
 */
function keyOf({ binding }: HookRun, queue: string): string {
  return kindFactsOf(binding).failuresOf === 'queue' ? queue : `${queue} ${binding}`;
}

/** Why the retries are used up; undefined while they are not. */
function usedUpText(
  { max, withinMs }: RetryLimits,
  { count, sinceMs }: Failures,
  nowMs: number,
): string | undefined {
  if (max !== undefined && count > max) return `it failed ${count} times (settings.retry.max: ${max})`;
  if (withinMs === undefined || nowMs - sinceMs < withinMs) return undefined;
  const forMs = formatGoDuration(Math.round((nowMs - sinceMs) / 1_000) * 1_000);
  return `it has been failing for ${forMs} (settings.retry.within: ${formatGoDuration(withinMs)})`;
}

/**
 * The error of a run that is not retried any more. It keeps the message and the facts of the last
 * failure.
 */
function exhausted(error: unknown, why: string): OperatorError {
  return new OperatorError(
    'HOOK_RETRIES_EXHAUSTED',
    withRemark(messageOf(error), `; it is not retried any more: ${why}`),
    {
      isPermanent: true,
      facts: factsOf(error),
      // As a cause, an error that requests a retry would make this one request it too.
      ...(isNotYet(error) ? {} : { cause: error }),
    },
  );
}
