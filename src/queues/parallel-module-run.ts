import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { PARALLEL_QUEUE_PREFIX, type ParallelRuns } from '../model/parallel-runs.ts';
import { originOf } from '../model/task-origin.ts';
import { MAIN_QUEUE, type ModuleRun, type Task } from '../model/tasks.ts';

/** The queues in which the runs of a group wait. */
export interface ParallelModuleRunParts {
  readonly queues: QueueSet<Task>;
}

/**
 * The number of queues for parallel runs; the last one is never used, which clients of the contract
 * expect.
 */
export const PARALLEL_QUEUES = 20;
const USED_QUEUES = PARALLEL_QUEUES - 1;

type ParallelTask = Extract<Task, { type: 'ParallelModuleRun' }>;

/**
 * Handles the task in `main` that represents a group of modules with equal order. The first attempt
 * spreads the runs over the parallel queues; each attempt then waits, and `repeat` keeps the task
 * at the head, until all runs have succeeded.
 */
export function handleParallelModuleRun(
  operator: ParallelModuleRunParts,
  task: ParallelTask,
): TaskOutcome<Task> {
  const { runs } = task;
  if (!runs.isSpread) {
    runs.noteSpread();
    for (const [index, run] of runs.runs.entries())
      operator.queues
        .get(`${PARALLEL_QUEUE_PREFIX}${index % USED_QUEUES}`)
        .append({ ...originOf(task), ...run, group: runs });
  }
  if (runs.isDone) return { type: 'success' };
  return { type: 'repeat', when: runs.whenDone() };
}

/** Notifies the waiting task of the outcome of an attempt of one of its runs. */
export function reportToGroup(
  operator: ParallelModuleRunParts,
  task: ModuleRun,
  error: string | undefined,
): void {
  const { group, module } = task;
  if (group === undefined) return;
  if (error === undefined) {
    group.succeeded(module);
    return;
  }
  group.failed(module, error);
  // The waiting task itself never fails: without this, `queue list` would show it as healthy.
  const main = operator.queues.get(MAIN_QUEUE);
  const waiting = main.entries.find((entry) => isWaitingFor(entry.task, group));
  if (waiting !== undefined) main.noteFailure(waiting, group.errorText);
}

function isWaitingFor(task: Task, group: ParallelRuns<ModuleRun>): boolean {
  return task.type === 'ParallelModuleRun' && task.runs === group;
}
