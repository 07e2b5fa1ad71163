import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { hasStatus } from '@addon-operator/kube-client/kube-client';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { originOf } from '../model/task-origin.ts';
import type { Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** The parts that a refused global hook is taken out of. */
export interface RefusedHooksParts {
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly queues: QueueSet<Task>;
}

type EnableTask = Extract<Task, { type: 'GlobalHookEnableKubernetesBindings' }>;

const REFUSED_QUEUE_PREFIX = 'refused_';
const FORBIDDEN = 403;

/**
 * Whether a global hook may be left out for a while. A deploy hook may not: it may exist to prevent
 * a deployment.
 */
export function canWaitAside({ hook }: HookRuntime): boolean {
  return DEPLOY_BINDINGS.every((binding) => hook.config.lifecycle[binding] === undefined);
}

/** Whether the API server refuses something to the account of the daemon (403). */
export function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (hasStatus(cause, FORBIDDEN)) return true;
  return false;
}

/**
 * Moves the task that enables a global hook from `main` to a queue of the hook, because everything
 * in `main` would wait for a permission that may never be granted. The hook does not run until the
 * task succeeds there: its snapshots could be incomplete.
 */
export function setAside(operator: RefusedHooksParts, task: EnableTask, error: unknown): void {
  const hook = task.hook.hook.name;
  const queue = operator.queues.get(`${REFUSED_QUEUE_PREFIX}${hook}`);
  const failure: Extract<TaskOutcome<Task>, { type: 'retry' }> = { type: 'retry', error };
  task.hook.setAside(true);
  queue.appendFailed(task, failure);
  operator.log.error(
    { hook, queue: queue.name, ...errorFields(error) },
    'A kubernetes binding of a global hook is forbidden. The hook does not run until the permission is granted; everything else continues.',
  );
}

/**
 * The global hooks that a converge runs. Hooks that wait for a permission are remembered, and get a
 * converge later.
 */
export function runnableHooks(
  operator: Pick<RefusedHooksParts, 'globalHooks' | 'log'>,
  binding: 'beforeAll' | 'afterAll',
): readonly HookRuntime[] {
  return operator.globalHooks.runtimes.filter((runtime) => {
    const { name, config } = runtime.hook;
    if (!runtime.isSetAside || config.lifecycle[binding] === undefined) return true;
    operator.globalHooks.skip(runtime);
    operator.log.warn({ hook: name, binding }, 'Global hook waits for a permission and does not run.');
    return false;
  });
}

/**
 * Called when a refused hook is permitted: queues the Synchronizations and the converge that it
 * missed.
 */
export function bringBack(
  operator: RefusedHooksParts,
  task: EnableTask,
  synchronizations: readonly Task[],
): void {
  const hook = task.hook.hook.name;
  operator.log.info({ hook }, 'The kubernetes bindings of a global hook are now permitted, it runs.');
  task.hook.setAside(false);
  operator.router.main.append(...synchronizations);
  if (operator.globalHooks.unskip(task.hook))
    operator.router.queueConverge('GlobalValuesChanged', 'GlobalHook-Permitted', originOf(task));
}
