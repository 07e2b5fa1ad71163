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

/** The parts that a start fills and a stop ends. */
export interface LifecycleParts {
  readonly registry: ModuleRegistry;
  readonly globalHooks: GlobalHooks;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
  readonly converge: Pick<ConvergeState, 'end'>;
}

const START = 'Operator-Startup';

/**
 * Fills the queue `main` with the tasks of the start, in this order: onStartup hooks, schedules and
 * kubernetes bindings of global hooks, their Synchronization, the first converge. Each of them
 * needs the ones before it, so a failing task delays all behind it. `app/start.ts` calls it last;
 * from then on the queues run, and new tasks come from events.
 */
export function startUp(operator: LifecycleParts, handle: TaskHandler<Task>, signals: QueueSignals): void {
  operator.router.main.append(...startTasks(operator.globalHooks.runtimes));
  for (const { hook } of operator.globalHooks.runtimes)
    for (const queue of queuesOf(hook)) operator.queues.get(queue);
  // Created now, so that the queues of the contract exist before they are used.
  for (let number = 0; number < PARALLEL_QUEUES; number += 1)
    operator.queues.get(`${PARALLEL_QUEUE_PREFIX}${number}`);
  operator.queues.start(handle, signals);
}

/** The tasks of the start, in order. */
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

/**
 * The tasks that enable events for global hooks. Schedules come first.
 */
export function enableTasks(runtimes: readonly HookRuntime[]): readonly Task[] {
  const scheduled = runtimes.filter(({ hook }) => hook.config.schedule.length > 0);
  const watching = runtimes.filter(({ hook }) => hook.config.kubernetes.length > 0);
  return [
    ...scheduled.map((hook): Task => ({ type: 'GlobalHookEnableScheduleBindings', hook, trigger: START })),
    ...watching.map((hook): Task => ({ type: 'GlobalHookEnableKubernetesBindings', hook, trigger: START })),
  ];
}

/** Stops timers, held runs and the monitors of all hooks. Called after the queues have ended. */
export async function shutDown(operator: LifecycleParts): Promise<void> {
  operator.router.requeues.stop();
  operator.router.held.stop();
  operator.router.failedScripts.stop();
  operator.converge.end()?.span.end({ error: 'the operator stops' });
  const ofModules = [...operator.registry.tracked.values()].flatMap((tracked) => tracked.hooks ?? []);
  await Promise.all([...operator.globalHooks.runtimes, ...ofModules].map((runtime) => runtime.stop()));
}
