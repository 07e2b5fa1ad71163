import type { TaskOutcome } from '@addon-operator/task-queue';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { HookBindings } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { RefusedHooksParts } from './refused-hooks.ts';
import { bringBack, canWaitAside, isRefusal, setAside } from './refused-hooks.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import type { Synchronizations } from './synchronizations.ts';

/** What the functions here use of the operator. */
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
  const forMain = operator.synchronizations.queue([runtime], task);
  if (!wasSetAside) return { type: 'success', after: forMain };
  bringBack(operator, task, forMain);
  return { type: 'success' };
}

/** Ends when every Synchronization that is waited for has succeeded. */
export function handleWaitSynchronization(operator: EnableGlobalHookParts): TaskOutcome<Task> {
  const { synchronization } = operator.globalHooks;
  // The runs of removed hooks are dropped, so they would never be reported as done.
  synchronization.keepOnly(operator.synchronizations.queued);
  if (synchronization.isDone) return { type: 'success' };
  return { type: 'repeat', when: synchronization.whenDone() };
}
