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

/** What the functions here use of the operator. */
export type ModuleAbortParts = {
  readonly router: TaskRouter;
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: QueueSet<Task>;
} & ReconcileFailureParts;

/**
 * Ends on request what was going on with a module: it counts as failed until something changes. A deletion is only put
 * off. Where nothing was going on, nothing becomes different.
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
  // Only what was changed before the request is ended.
  if (operator.router.changes.isChangedSinceAbort(module))
    operator.router.queueModuleRun(module, 'Changed-Since-Abort');
  return { type: 'success' };
}

/** They wait for what is not to be done any more. */
function dropOtherRuns({ queues }: ModuleAbortParts, own: ModuleRun): void {
  for (const queue of queues.all)
    for (const task of queue.remove(
      (other) => other.type === 'ModuleRun' && other.module === own.module && other !== own,
    ))
      if (task.type === 'ModuleRun') task.group?.succeeded(task.module);
}
