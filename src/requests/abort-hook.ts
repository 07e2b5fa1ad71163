import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import { droppableTask, hookTitle, type RunningHook } from '../model/running-hooks.ts';
import type { Task } from '../model/tasks.ts';
import type { HookAbortOutcome, HookAbortRequest } from '../status/hook-abort.ts';

/** The parts that know running hooks and their tasks. */
export interface AbortHookParts {
  readonly execution: Pick<HookExecution, 'running'>;
  readonly queues: QueueSet<Task>;
  readonly log: Logger;
}

/**
 * Ends the running processes, threads or HTTP requests of a hook, on request of a user. The task is
 * retried as after a failure, or dropped if the user asked for that and no other task waits for the
 * run.
 */
export function abortHook(
  { execution, queues, log }: AbortHookParts,
  { hook, queue, isDropped }: HookAbortRequest,
): HookAbortOutcome {
  const found = execution.running.all.filter(
    (run) => isNamed(run, hook) && (queue === undefined || run.labels.queue === queue),
  );
  const names = namesOf(found);
  if (names.length === 0) return { type: 'not-running', running: namesOf(execution.running.all) };
  if (names.length > 1) return { type: 'ambiguous', names };
  const droppable = isDropped ? found.map((run) => droppableTask(queues, run)) : [];
  if (droppable.includes(undefined)) return { type: 'not-droppable' };
  for (const [index, run] of found.entries()) {
    const task = droppable[index];
    // Removed before the abort, so that the queue finds no task to retry.
    if (task !== undefined) queues.get(run.labels.queue).remove((other) => other === task);
    run.abort(new OperatorError('RUN_ABORTED', `The run of hook ${hookTitle(run)} was aborted on request`));
    log.info({ ...run.labels, isDropped }, 'hook run is aborted on request');
  }
  return { type: 'aborted', runs: found.length };
}

/** Sorted: the order of the starts is of no use to a user. */
function namesOf(runs: readonly RunningHook[]): readonly string[] {
  return [...new Set(runs.map(hookTitle))].toSorted();
}

function isNamed(run: RunningHook, name: string): boolean {
  return run.labels.hook === name || hookTitle(run) === name;
}
