import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { PARALLEL_QUEUE_PREFIX, type ParallelRuns } from '../model/parallel-runs.ts';
import { originOf } from '../model/task-origin.ts';
import { MAIN_QUEUE, type ModuleRun, type Task } from '../model/tasks.ts';

/** What the functions here use of the operator. */
export interface ParallelModuleRunParts {
  readonly queues: QueueSet<Task>;
}

/** Queues that exist for parallel runs; the last one is never used, as in the contract. */
export const PARALLEL_QUEUES = 20;
const USED_QUEUES = PARALLEL_QUEUES - 1;

type ParallelTask = Extract<Task, { type: 'ParallelModuleRun' }>;

/** Puts the runs into the parallel queues, once, and waits until all of them have succeeded. */
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
  const main = operator.queues.get(MAIN_QUEUE);
  const waiting = main.entries.find((entry) => isWaitingFor(entry.task, group));
  if (waiting !== undefined) main.noteFailure(waiting, group.errorText);
}

function isWaitingFor(task: Task, group: ParallelRuns<ModuleRun>): boolean {
  return task.type === 'ParallelModuleRun' && task.runs === group;
}
