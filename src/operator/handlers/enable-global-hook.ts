import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { synchronizedBindings } from '../../hooks/binding-context.ts';
import type { KubernetesBinding } from '../../hooks/hook-config.ts';
import type { ConvergeState } from '../converge-state.ts';
import type { GlobalHooks } from '../global-hooks.ts';
import type { HookRuntime } from '../hook-runtime.ts';
import type { ModuleRegistry } from '../module-registry.ts';
import type { RefusedHooksParts } from '../refused-hooks.ts';
import { bringBack, canWaitAside, isRefusal, setAside } from '../refused-hooks.ts';
import { rethrowAbort } from '../rethrow-abort.ts';
import type { HookBindings } from '../services.ts';
import { originOf } from '../task-origin.ts';
import type { TaskRouter } from '../task-router.ts';
import { MAIN_QUEUE, type Task } from '../tasks.ts';
import { isWaitedFor } from './hook-run.ts';

/** What the functions here use of the operator. */
export type EnableGlobalHookParts = {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
  readonly bindings: Pick<HookBindings, 'setSchedules'>;
} & RefusedHooksParts;

export function handleEnableSchedules(
  operator: EnableGlobalHookParts,
  runtime: HookRuntime,
): TaskOutcome<Task> {
  operator.bindings.setSchedules(runtime, true);
  return { type: 'success' };
}

/**
 * Starts the monitors of a global hook; its Synchronization runs for `main` come next, others go to their queues. A hook
 * that may not watch something waits in a queue of its own, so that `main` goes on.
 */
export async function handleEnableKubernetes(
  operator: EnableGlobalHookParts,
  task: Extract<Task, { type: 'GlobalHookEnableKubernetesBindings' }>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const runtime = task.hook;
  if (runtime.isStopped) return { type: 'success' };
  const wasSetAside = runtime.isSetAside;
  try {
    await runtime.startMonitors(signal);
  } catch (error) {
    rethrowAbort(error, signal);
    if (wasSetAside || !isRefusal(error) || !canWaitAside(runtime)) throw error;
    setAside(operator, task, error);
    return { type: 'success' };
  }
  const forMain = queueSynchronizations(operator, [runtime], task);
  if (!wasSetAside) return { type: 'success', after: forMain };
  bringBack(operator, task, forMain);
  return { type: 'success' };
}

/** Ends when every Synchronization that is waited for has succeeded. */
export function handleWaitSynchronization(operator: EnableGlobalHookParts): TaskOutcome<Task> {
  const { synchronization } = operator.globalHooks;
  // The runs of removed hooks are dropped, so they would never be reported as done.
  synchronization.keepOnly(queuedSynchronizations(operator));
  if (synchronization.isDone) return { type: 'success' };
  return { type: 'repeat', when: synchronization.whenDone() };
}

/** The bindings whose Synchronization runs now or waits in a queue. */
export function queuedSynchronizations(operator: EnableGlobalHookParts): ReadonlySet<KubernetesBinding> {
  const tasks = operator.queues.all.flatMap(({ entries }) => entries.map(({ task }) => task));
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
  operator: EnableGlobalHookParts,
  runtimes: readonly HookRuntime[],
  asking: Task,
  belongs: (binding: KubernetesBinding) => boolean = () => true,
): readonly Task[] {
  const forMain: Task[] = [];
  for (const runtime of runtimes) {
    for (const binding of runtime.hook.config.kubernetes.filter(belongs)) {
      const run = operator.router.synchronizationRun(runtime, binding, operator.converge.activation);
      const task = { ...run, ...originOf(asking) };
      operator.router.synchronizationOf(runtime.hook.owner)?.expect(binding, isWaitedFor(binding));
      if (binding.queue === MAIN_QUEUE) forMain.push(task);
      else operator.queues.get(binding.queue).append(task);
    }
  }
  return forMain;
}

/** Queues the Synchronizations of wanted modules that were dropped or missed; returns those for `main`. */
export function resynchronizeMissed(operator: EnableGlobalHookParts, asking: Task): readonly Task[] {
  return [...operator.registry.tracked.values()].flatMap(({ module, hooks, synchronization }) =>
    operator.registry.isWanted(module.name)
      ? queueSynchronizations(operator, hooks ?? [], asking, (binding) => synchronization.isLost(binding))
      : [],
  );
}
