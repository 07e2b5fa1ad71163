import { synchronizedBindings } from '../../hooks/binding-context.ts';
import type { KubernetesBinding } from '../../hooks/hook-config.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import type { HookRuntime } from '../hook-runtime.ts';
import { MAIN_QUEUE, type Operator } from '../operator.ts';
import { originOf } from '../task-origin.ts';
import type { Task } from '../tasks.ts';
import { isWaitedFor } from './hook-run.ts';

export function handleEnableSchedules(operator: Operator, runtime: HookRuntime): TaskOutcome<Task> {
  operator.deps.setSchedules(runtime, true);
  return { type: 'success' };
}

/** Starts the monitors of a global hook; its Synchronization runs for `main` come next, others go to their queues. */
export async function handleEnableKubernetes(
  operator: Operator,
  task: Extract<Task, { type: 'GlobalHookEnableKubernetesBindings' }>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const runtime = task.hook;
  if (runtime.isStopped) return { type: 'success' };
  await runtime.startMonitors(signal);
  const after = queueSynchronizations(operator, [runtime], task);
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
  return new Set(tasks.flatMap((task) => ('reasons' in task ? synchronizedBindings(task.reasons) : [])));
}

/**
 * Makes one Synchronization run per kubernetes binding. Those of other queues are appended there; those of `main` are
 * returned, for the caller to put where they come next.
 *
 * @param asking the task that asks for them
 * @param belongs leaves bindings out
 */
export function queueSynchronizations(
  operator: Operator,
  runtimes: readonly HookRuntime[],
  asking: Task,
  belongs: (binding: KubernetesBinding) => boolean = () => true,
): readonly Task[] {
  const forMain: Task[] = [];
  for (const runtime of runtimes) {
    for (const binding of runtime.hook.config.kubernetes.filter(belongs)) {
      const run = operator.synchronizationRun(runtime, binding, operator.activation);
      const task = { ...run, ...originOf(asking) };
      operator.synchronizationOf(runtime.hook.owner)?.expect(binding, isWaitedFor(binding));
      if (binding.queue === MAIN_QUEUE) forMain.push(task);
      else operator.deps.queues.get(binding.queue).append(task);
    }
  }
  return forMain;
}
