import type { TaskOutcome } from '@addon-operator/task-queue';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { HookBindings } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { RefusedHooksParts } from './refused-hooks.ts';
import { bringBack, canWaitAside, isRefusal, setAside } from './refused-hooks.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import type { Synchronizations } from './synchronizations.ts';

/** The parts that a global hook is enabled with. */
export type EnableGlobalHookParts = {
  readonly globalHooks: GlobalHooks;
  readonly bindings: Pick<HookBindings, 'setSchedules'>;
  readonly synchronizations: Synchronizations;
} & RefusedHooksParts;

export function handleEnableSchedules(
  operator: EnableGlobalHookParts,
  runtime: HookRuntime,
): TaskOutcome<Task> {
  operator.bindings.setSchedules(runtime, true);
  return { type: 'success' };
}

/**
 * Starts the monitors of a global hook. Its Synchronizations for `main` come next, others go to
 * their queues. A hook without the permission to watch moves to a queue of its own, so that `main` continues.
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
    // A second refusal is retried by the queue of the hook, where it is already.
    if (wasSetAside || !isRefusal(error) || !canWaitAside(runtime)) throw error;
    setAside(operator, task, error);
    return { type: 'success' };
  }
  const forMain = operator.synchronizations.queue([runtime], task);
  if (!wasSetAside) return { type: 'success', after: forMain };
  bringBack(operator, task, forMain);
  return { type: 'success' };
}

/** Waits until every Synchronization of global hooks that `main` waits for has succeeded. */
export function handleWaitSynchronization(operator: EnableGlobalHookParts): TaskOutcome<Task> {
  const { synchronization } = operator.globalHooks;
  // Runs of removed hooks were dropped and will never be reported as done.
  synchronization.keepOnly(operator.synchronizations.queued);
  if (synchronization.isDone) return { type: 'success' };
  return { type: 'repeat', when: synchronization.whenDone() };
}
