import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import { synchronizedBindings } from '../hooks/binding-context.ts';
import { type HookTask, MAIN_QUEUE } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** Whether beforeAll or beforeHelm waits for the first run of the binding. */
export function isWaitedFor(binding: KubernetesBinding): boolean {
  return binding.waitForSynchronization || binding.queue === MAIN_QUEUE;
}

/**
 * To be called after a run for Synchronizations: lets events through, and what waits for it go on.
 *
 * @param isFinished leaves out bindings that are not synchronized yet; default: none
 */
export function finishSynchronization(
  operator: { readonly router: Pick<TaskRouter, 'synchronizationOf'> },
  task: HookTask,
  isFinished: (binding: KubernetesBinding) => boolean = () => true,
): void {
  // Its module may have been started anew, and then waits for other runs.
  if (task.hook.isStopped) return;
  const bindings = synchronizedBindings(task.reasons).filter(isFinished);
  task.hook.unlock(bindings.map(({ index }) => index));
  const synchronization = operator.router.synchronizationOf(task.hook.hook.owner);
  for (const binding of bindings) synchronization?.done(binding);
}
