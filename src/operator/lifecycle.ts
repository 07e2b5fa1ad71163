import type { QueueSignals, TaskHandler } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { LifecycleBinding } from '../hook-config/binding-kinds.ts';
import { queuesOf } from '../hooks/hook.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import { type HookRuntime, runtimesInOrder } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { PARALLEL_QUEUE_PREFIX } from '../model/parallel-runs.ts';
import type { GlobalHookRun, Task } from '../model/tasks.ts';
import { PARALLEL_QUEUES } from '../queues/parallel-module-run.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** What the functions here use of the operator. */
export interface LifecycleParts {
  readonly registry: ModuleRegistry;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
  readonly converge: Pick<ConvergeState, 'end'>;
}

const START = 'Operator-Startup';

/**
 * Fills the queue `main` with everything that happens at the start, in this order: onStartup hooks, schedules and
 * kubernetes bindings of global hooks, their Synchronization, the first converge. A failing task holds up all behind it.
 */
export function startUp(operator: LifecycleParts, handle: TaskHandler<Task>, signals: QueueSignals): void {
  operator.router.main.append(...startTasks(operator.globalHooks.runtimes));
  for (const { hook } of operator.globalHooks.runtimes)
    for (const queue of queuesOf(hook)) operator.queues.get(queue);
  for (let number = 0; number < PARALLEL_QUEUES; number += 1)
    operator.queues.get(`${PARALLEL_QUEUE_PREFIX}${number}`);
  operator.queues.start(handle, signals);
}

function startTasks(hooks: readonly HookRuntime[]): readonly Task[] {
  return [
    ...onStartupRuns(hooks),
    ...enableTasks(hooks),
    { type: 'GlobalHookWaitKubernetesSynchronization', trigger: START },
    { type: 'ConvergeModules', event: 'OperatorStartup', trigger: START },
  ];
}

/** The onStartup runs of global hooks, by order number and name. */
export function onStartupRuns(runtimes: readonly HookRuntime[]): readonly Task[] {
  return lifecycleRuns(runtimes, 'onStartup', { trigger: START, activation: 'OperatorStartup' });
}

/** The runs of global hooks for a lifecycle binding, by order number and name. */
export function lifecycleRuns(
  runtimes: readonly HookRuntime[],
  binding: LifecycleBinding,
  cause: Pick<GlobalHookRun, 'trigger' | 'activation'>,
): readonly GlobalHookRun[] {
  return runtimesInOrder(runtimes, binding).map((hook) => ({
    type: 'GlobalHookRun',
    hook,
    binding,
    reasons: [{ type: 'lifecycle', binding }],
    allowFailure: false,
    ...cause,
  }));
}

/** The tasks that make schedules and cluster events reach global hooks: schedules first. */
export function enableTasks(runtimes: readonly HookRuntime[]): readonly Task[] {
  const scheduled = runtimes.filter(({ hook }) => hook.config.schedule.length > 0);
  const watching = runtimes.filter(({ hook }) => hook.config.kubernetes.length > 0);
  return [
    ...scheduled.map((hook): Task => ({ type: 'GlobalHookEnableScheduleBindings', hook, trigger: START })),
    ...watching.map((hook): Task => ({ type: 'GlobalHookEnableKubernetesBindings', hook, trigger: START })),
  ];
}

/** Ends what was started: requeues, and monitors of all hooks. The queues have ended before. */
export async function shutDown(operator: LifecycleParts): Promise<void> {
  operator.router.requeues.stop();
  operator.router.held.stop();
  operator.router.failedScripts.stop();
  operator.converge.end()?.span.end({ error: 'the operator stops' });
  const ofModules = [...operator.registry.tracked.values()].flatMap((tracked) => tracked.hooks ?? []);
  await Promise.all([...operator.globalHooks.runtimes, ...ofModules].map((runtime) => runtime.stop()));
}
