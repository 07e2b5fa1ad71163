import type { Clock } from '@addon-operator/base/clock';
import {
  codeOf,
  errorFields,
  hasCode,
  isPermanent,
  messageOf,
  retryAfterOf,
} from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { boundedDelay } from '@addon-operator/concurrency/bounded-time';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleDelete, ModuleRun, Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import { type RequiredModulesParts, runWaiting } from '../queues/required-modules.ts';
import { rethrowAbort } from './rethrow-abort.ts';

/** The parts that a failed reconcile changes or reports to. */
export type ReconcileFailureParts = {
  readonly registry: ModuleRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
} & RequiredModulesParts;

/**
 * The delay after which a deletion that failed for good, or was aborted, is tried again: it must
 * not be lost.
 */
export const DELETE_RETRY_MS = 5 * 60_000;

interface Failure {
  readonly error: unknown;
  readonly startedMs: number;
  /** Attempts at the task so far. */
  readonly count: number;
}

/**
 * Decides the outcome of a task whose reconcile failed. `reconcile/reconcile-module.ts` calls it
 * with the error. A run that failed for good stalls its module and counts as done, so that the
 * tasks behind it continue; a run whose hook asked to wait is retried after that time; everything else
 * is retried with back-off.
 *
 * @throws the error when the daemon is ending
 */
export function failedReconcile(
  operator: ReconcileFailureParts,
  task: ModuleRun | ModuleDelete,
  { error, startedMs, count }: Failure,
  signal: AbortSignal,
): TaskOutcome<Task> {
  rethrowAbort(error, signal);
  const { log, metrics, clock } = operator;
  const { module } = task;
  const message = messageOf(error);
  const tracked = operator.registry.tracked.get(module);
  tracked?.noteFailure(message);
  if (task.type === 'ModuleDelete') {
    metrics.moduleDeleteError(module);
    log.error(
      { module, count, ...errorFields(error) },
      'ModuleDelete failed. Requeue task to retry after delay.',
    );
    // A deletion is never dropped, so a permanent error only makes its retries rare.
    return isPermanent(error) ? { type: 'retry', error, delayMs: DELETE_RETRY_MS } : { type: 'retry', error };
  }
  // `retryAfter` is no failure of the module: it is neither counted nor logged as an error.
  const requestedMs = retryAfterOf(error);
  const delayMs = requestedMs === undefined ? undefined : boundedDelay(requestedMs);
  if (delayMs !== undefined) {
    tracked?.history.noteRun(startedMs, clock, 'failure');
    tracked?.apply({ type: 'run-failed' });
    log.info({ module, reason: message, delayMs }, 'Module has to wait, ModuleRun will be retried');
    return { type: 'retry', error, delayMs };
  }
  metrics.moduleRunError(module);
  if (tracked !== undefined) {
    tracked.history.noteRun(startedMs, clock, 'failure');
    if (isPermanent(error)) {
      // Success for the queue: nothing behind a stalled module has to wait for it.
      stallModule(operator, tracked, { event: 'run-stalled', error });
      return { type: 'success' };
    }
    tracked.apply({ type: 'run-failed' });
  }
  log.error(
    { module, phase: tracked?.phase, count, ...errorFields(error) },
    'ModuleRun failed. Requeue task to retry after delay.',
  );
  return { type: 'retry', error };
}

/** Marks a module as stalled: it is not run again until something about it changes. Modules that wait for it fail. */
export function stallModule(
  operator: ReconcileFailureParts,
  tracked: TrackedModule,
  { event, error }: { readonly event: 'run-stalled' | 'run-aborted'; readonly error: unknown },
): void {
  const message = messageOf(error);
  const code = codeOf(error);
  const isByRequirement = hasCode(error, 'REQUIREMENT_FAILED');
  tracked.apply({
    type: event,
    stall: { error: message, ...(code !== undefined && { code }), isByRequirement },
  });
  // A stall by failure was noted with the attempt; an abort has no failed attempt.
  if (event === 'run-aborted') tracked.noteFailure(message);
  operator.log.error(
    { module: tracked.module.name, phase: tracked.phase, ...errorFields(error) },
    'ModuleRun failed permanently. It is not retried until values, ConfigMap or files change, or a run is requested.',
  );
  // Dependents that wait for this module to be ready would wait for ever: they run now and fail
  // with its name.
  runWaiting(operator, tracked.module);
}
