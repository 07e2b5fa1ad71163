import { errorFields, type OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { isIndependent } from '../hook-config/binding-kinds.ts';
import { synchronizedBindings } from '../hooks/binding-context.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { ownQueueName } from '../model/own-queue.ts';
import type { HookTask, Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { finishSynchronization, isWaitedFor } from './finish-synchronization.ts';
import { DELETE_RETRY_MS } from './reconcile-failure.ts';

/** The parts that delay or drop a run. */
export interface UnfinishedRunParts {
  readonly router: TaskRouter;
  readonly registry: Pick<ModuleRegistry, 'discovery'>;
}

/**
 * The outcome of a run whose hook asked to run later (`retryAfter`). Runs for events and schedules
 * leave their queue, together with the following runs of the hook, so that other hooks continue; all
 * other runs are retried in place, because a task waits for them.
 */
export function postpone(
  { router }: Pick<UnfinishedRunParts, 'router'>,
  task: HookTask,
  queue: TaskQueue<Task>,
  error: OperatorError & { readonly retryAfterMs: number },
  log: Logger,
): TaskOutcome<Task> {
  const { retryAfterMs: delayMs } = error;
  if (!isIndependent(task.reasons)) {
    log.info({ reason: error.message, delayMs }, 'Hook is not done yet, its task is retried');
    return { type: 'retry', error, delayMs };
  }
  const following = queue.remove(
    (other) =>
      other !== task && 'reasons' in other && other.hook === task.hook && isIndependent(other.reasons),
  ) as readonly HookTask[];
  // The queue of an isolated module holds runs of several queues: each goes back to its own.
  for (const [name, tasks] of Map.groupBy([task, ...following].flatMap(splitByQueue), ownQueueName)) {
    const [first, ...others] = tasks;
    if (first !== undefined) router.held.hold([first, ...others], name, error);
  }
  log.info({ reason: error.message, delayMs }, 'Hook is not done yet: its run waits beside the queue');
  return { type: 'success' };
}

/**
 * The outcome of a run that is not retried: it is dropped. An onStartup failure is kept, because
 * the operator cannot start without it and ends.
 */
export function giveUp(
  { router, registry }: UnfinishedRunParts,
  task: HookTask,
  error: OperatorError,
  log: Logger,
): TaskOutcome<Task> {
  if (isOfStart(task) && registry.discovery === undefined) {
    log.error(errorFields(error), 'A global onStartup hook failed permanently: the operator ends.');
    return { type: 'retry', error, delayMs: DELETE_RETRY_MS };
  }
  const { owner } = task.hook.hook;
  const synchronization = router.synchronizationOf(owner);
  // A module run waits for this binding, and has to fail with the error instead of waiting for
  // ever.
  for (const binding of synchronizedBindings(task.reasons))
    if (owner.type === 'module' && isWaitedFor(binding))
      synchronization?.fail(binding, { hook: task.hook.hook, error });
  // Other bindings count as synchronized: later events are better than none.
  finishSynchronization({ router }, task, (binding) => owner.type === 'global' || !isWaitedFor(binding));
  log.error(
    errorFields(error),
    'Hook failed permanently. Its run is dropped and not retried; correct the cause, then use `hook trigger` or wait for its next event.',
  );
  return { type: 'success' };
}

/** Whether the task is an onStartup run of a global hook. */
function isOfStart(task: HookTask): boolean {
  return task.type === 'GlobalHookRun' && task.binding === 'onStartup';
}

/** Whether no other task waits for the run, so that it may leave its queue. */
function splitByQueue(task: HookTask): readonly HookTask[] {
  const parts = Map.groupBy(task.reasons, (reason) => ownQueueName({ reasons: [reason] }));
  return parts.size === 1 ? [task] : [...parts.values()].map((reasons) => ({ ...task, reasons }));
}
