import type { QueueEntry, TaskOutcome, TaskQueue } from '../../queue/task-queue.ts';
import { GLOBAL_SECTION } from '../../values/module-key.ts';
import type { Operator } from '../operator.ts';
import { type GlobalHookRun, isOnlySynchronization, type Task } from '../tasks.ts';
import { runHookTask } from './hook-run.ts';

/** Runs a global hook. Changed global values ask for a converge, changed enabled flags start one over. */
export async function handleGlobalHookRun(
  operator: Operator,
  entry: QueueEntry<Task>,
  task: GlobalHookRun,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const outcome = await runHookTask(operator, entry, task, queue, signal);
  if (outcome.type !== 'ran') return { type: 'success' };
  const ran = outcome.task;
  // Before the first discovery there is nothing to start over: the coming one sees the flags.
  if (outcome.effects.areFlagsChanged && operator.discovery !== undefined)
    operator.restartConverge('ReloadAllModules', 'ReloadAll-After-GlobalHookDynamicUpdate');
  else if (isAfterAllDifferent(operator, task))
    operator.queueConverge('GlobalValuesChanged', 'AfterAll-Hooks-Change-GlobalValues');
  else if (outcome.effects.areValuesChanged && !isOnlySynchronization(ran)) {
    if (ran.binding === 'schedule')
      operator.queueConverge('GlobalValuesChanged', 'Schedule-Change-GlobalValues');
    if (ran.binding === 'kubernetes')
      operator.queueConverge('GlobalValuesChanged', 'Kubernetes-Change-GlobalValues');
  }
  return { type: 'success' };
}

function isAfterAllDifferent(operator: Operator, task: GlobalHookRun): boolean {
  const { valuesBeforeAfterAll } = task;
  return (
    valuesBeforeAfterAll !== undefined &&
    operator.deps.values.checksum(GLOBAL_SECTION) !== valuesBeforeAfterAll
  );
}
