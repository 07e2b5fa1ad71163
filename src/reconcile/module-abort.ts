import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ReconcileFailureParts } from '../hook-runs/reconcile-failure.ts';
import { DELETE_RETRY_MS, stallModule } from '../hook-runs/reconcile-failure.ts';
import { runAborted } from '../model/run-aborts.ts';
import type { ModuleDelete, ModuleRun, Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** The parts that an abort changes. */
export type ModuleAbortParts = {
  readonly router: TaskRouter;
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: QueueSet<Task>;
} & ReconcileFailureParts;

/**
 * Carries out an abort that a user requested: the run of the module stalls until something changes.
 * A deletion is only deferred, because it must not be lost. Does nothing if the module was idle.
 */
export function abortModule(
  operator: ModuleAbortParts,
  tracked: TrackedModule,
  task: ModuleRun | ModuleDelete,
): TaskOutcome<Task> {
  const { log, clock } = operator;
  const { module } = task;
  const error = runAborted(module);
  if (task.type === 'ModuleDelete') {
    log.warn({ module, delayMs: DELETE_RETRY_MS }, 'Deletion is aborted on request, it will be retried');
    tracked.history.noteError(error.message);
    return { type: 'retry', error, delayMs: DELETE_RETRY_MS };
  }
  if (task.isRecheck === true && !tracked.isUnfinished) {
    log.info({ module }, 'Nothing to abort');
    return { type: 'success' };
  }
  dropOtherRuns(operator, task);
  tracked.history.noteRun(clock.steadyMs(), clock, 'failure');
  stallModule(operator, tracked, { event: 'run-aborted', error });
  // The abort covers changes before the request only; later ones get a run.
  if (operator.router.changes.isChangedSinceAbort(module))
    operator.router.queueModuleRun(module, 'Changed-Since-Abort');
  return { type: 'success' };
}

/** Drops the other queued runs: the work that they would continue is aborted. */
function dropOtherRuns({ queues }: ModuleAbortParts, own: ModuleRun): void {
  for (const queue of queues.all)
    for (const task of queue.remove(
      (other) => other.type === 'ModuleRun' && other.module === own.module && other !== own,
    ))
      if (task.type === 'ModuleRun') task.group?.succeeded(task.module);
}
