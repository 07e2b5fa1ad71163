import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { BINDING_KINDS, kindFactsOf } from '../hook-config/binding-kinds.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
import { causedBy } from '../model/task-origin.ts';
import { isOnlySynchronization, MAIN_QUEUE, type ModuleHookRun, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { HookRunParts } from './hook-run.ts';
import { doneWith, runHookTask } from './hook-run.ts';

/** The parts that a module hook run uses besides the common ones. */
export type ModuleHookRunParts = {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly releases: Releases;
} & HookRunParts;

/**
 * Handles a ModuleHookRun: runs the hook for an event, a schedule or a Synchronization. If it
 * changed values, the router queues a run of the module. The common part of module and global hooks
 * is in `hook-run.ts`.
 */
export async function handleModuleHookRun(
  operator: ModuleHookRunParts,
  entry: QueueEntry<Task>,
  task: ModuleHookRun,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases } = operator;
  // The module was disabled after the event: its events are kept in case it is enabled again.
  if (!operator.registry.isWanted(task.module)) {
    operator.router.missRuns([task]);
    return { type: 'success' };
  }
  // A hook in `main` may delete objects of the release on purpose; a ModuleRun behind it restores them.
  const resumeMonitor = queue.name === MAIN_QUEUE ? releases.pauseMonitor(task.module) : undefined;
  try {
    const outcome = await runHookTask(operator, entry, task, queue, signal);
    // Synchronizations of a start are left out: the module run that waits for them uses the values.
    if (outcome.type === 'ran' && outcome.effects.areValuesChanged && !isOnlySynchronization(outcome.task)) {
      const { changeTriggers = BINDING_KINDS.kubernetes.changeTriggers } = kindFactsOf(outcome.task.binding);
      operator.router.queueModuleRun(task.module, changeTriggers.module, causedBy(outcome.task));
    }
    return doneWith(outcome);
  } finally {
    resumeMonitor?.();
  }
}
