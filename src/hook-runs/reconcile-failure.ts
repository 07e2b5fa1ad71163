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

/** What the functions here use of the operator. */
export type ReconcileFailureParts = {
  readonly registry: ModuleRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
} & RequiredModulesParts;

/** Until a deletion is tried again that failed for good, or was aborted: it must not be lost. */
export const DELETE_RETRY_MS = 5 * 60_000;

interface Failure {
  readonly error: unknown;
  readonly startedMs: number;
  /** Attempts at the task so far. */
  readonly count: number;
}

/**
 * What becomes of a task whose reconcile failed. A run that fails for good stalls its module, so that the tasks behind it
 * go on; everything else is tried again.
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
    return isPermanent(error) ? { type: 'retry', error, delayMs: DELETE_RETRY_MS } : { type: 'retry', error };
  }
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
  if (event === 'run-aborted') tracked.noteFailure(message);
  operator.log.error(
    { module: tracked.module.name, phase: tracked.phase, ...errorFields(error) },
    'ModuleRun failed permanently. It is not retried until values, ConfigMap or files change, or a run is requested.',
  );
  runWaiting(operator, tracked.module);
}
