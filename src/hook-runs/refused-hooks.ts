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

/** What the functions here use of the operator. */
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
 * Whether a global hook can be left out for a while: not one that runs in deploys, which it may be there to prevent.
 */
export function canWaitAside({ hook }: HookRuntime): boolean {
  return DEPLOY_BINDINGS.every((binding) => hook.config.lifecycle[binding] === undefined);
}

/** Whether the API server says that the account of the daemon may not do something. */
export function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (hasStatus(cause, FORBIDDEN)) return true;
  return false;
}

/**
 * Moves the task that enables a global hook out of `main`, where everything else would wait for a permission that may never
 * be granted, into a queue of the hook. Until it succeeds there, the hook is not run: a snapshot that it would get could
 * lack what may not be listed.
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

/** The global hooks that a converge runs; those that wait for a permission are remembered, and run in another one then. */
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

/** To be called when a hook that was set aside is enabled: what it missed in the queue `main` is made up for. */
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
