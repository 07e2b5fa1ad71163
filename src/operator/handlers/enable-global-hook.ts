import type { KubernetesBinding } from '../../hooks/hook-config.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import type { HookRuntime } from '../hook-runtime.ts';
import { MAIN_QUEUE, type Operator } from '../operator.ts';
import type { Task } from '../tasks.ts';
import { isWaitedFor } from './hook-run.ts';

export function handleEnableSchedules(operator: Operator, runtime: HookRuntime): TaskOutcome<Task> {
  operator.deps.setSchedules(runtime, true);
  return { type: 'success' };
}

/** Starts the monitors of a global hook; its Synchronization runs for `main` come next, others go to their queues. */
export async function handleEnableKubernetes(
  operator: Operator,
  runtime: HookRuntime,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (runtime.isStopped) return { type: 'success' };
  await runtime.startMonitors(signal);
  const after = queueSynchronizations(operator, [runtime]);
  return { type: 'success', after };
}

/** Ends when every Synchronization that is waited for has succeeded. */
export function handleWaitSynchronization(operator: Operator): TaskOutcome<Task> {
  const { globalSynchronization } = operator;
  // Hooks that are gone take their runs with them: nobody would report those as done.
  globalSynchronization.keepOnly(queuedSynchronizations(operator));
  if (globalSynchronization.isDone) return { type: 'success' };
  return { type: 'repeat', when: globalSynchronization.whenDone() };
}

/** The bindings whose Synchronization runs now or waits in a queue. */
export function queuedSynchronizations(operator: Operator): ReadonlySet<KubernetesBinding> {
  const tasks = operator.deps.queues.all.flatMap(({ entries }) => entries.map(({ task }) => task));
  const reasons = tasks.flatMap((task) => ('reasons' in task ? task.reasons : []));
  return new Set(reasons.flatMap((reason) => (reason.type === 'synchronization' ? [reason.binding] : [])));
}

/**
 * Makes one Synchronization run per kubernetes binding. Those of other queues are appended there; those of `main` are
 * returned, for the caller to put where they come next.
 *
 * @param belongs leaves bindings out
 */
export function queueSynchronizations(
  operator: Operator,
  runtimes: readonly HookRuntime[],
  belongs: (binding: KubernetesBinding) => boolean = () => true,
): readonly Task[] {
  const forMain: Task[] = [];
  for (const runtime of runtimes) {
    for (const binding of runtime.hook.config.kubernetes.filter(belongs)) {
      const task = operator.synchronizationRun(runtime, binding, operator.activation);
      operator.synchronizationOf(runtime.hook.owner)?.expect(binding, isWaitedFor(binding));
      if (binding.queue === MAIN_QUEUE) forMain.push(task);
      else operator.deps.queues.get(binding.queue).append(task);
    }
  }
  return forMain;
}
