import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import { synchronizedBindings } from '../hooks/binding-context.ts';
import { type HookTask, MAIN_QUEUE } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** Whether beforeAll or beforeHelm waits for the first run of the binding. */
export function isWaitedFor(binding: KubernetesBinding): boolean {
  return binding.waitForSynchronization || binding.queue === MAIN_QUEUE;
}

/**
 * Called after a run for Synchronizations: releases the events that the monitors held back, and
 * wakes the tasks that wait.
 *
 * @param isFinished excludes bindings that are not synchronized yet; default: none
 */
export function finishSynchronization(
  operator: { readonly router: Pick<TaskRouter, 'synchronizationOf'> },
  task: HookTask,
  isFinished: (binding: KubernetesBinding) => boolean = () => true,
): void {
  // The module may have been started again, and then waits for the runs of its new runtime.
  if (task.hook.isStopped) return;
  const bindings = synchronizedBindings(task.reasons).filter(isFinished);
  task.hook.unlock(bindings.map(({ index }) => index));
  const synchronization = operator.router.synchronizationOf(task.hook.hook.owner);
  for (const binding of bindings) synchronization?.done(binding);
}
