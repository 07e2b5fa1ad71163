import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { type BindingType, isPartOfConverge, ORDER_SECTIONS } from '../hook-config/binding-kinds.ts';
import { type HookConfig, type KubernetesBinding, namedBindings } from '../hook-config/hook-config.ts';
import type { RunReason } from '../hooks/binding-context.ts';
import type { Hook } from '../hooks/hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { FILES_CHANGED, hookTask, MAIN_QUEUE, type Task } from '../model/tasks.ts';
import { appendHookRun } from '../queues/compact-queue.ts';

/** The parts that an edited hook is queued with. */
export interface EditedHooksParts {
  readonly registry: Pick<ModuleRegistry, 'tracked' | 'isWanted'>;
  readonly globalHooks: Pick<GlobalHooks, 'synchronization'>;
  readonly queues: QueueSet<Task>;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  readonly log: Logger;
}

/** One run of a hook whose file was edited. */
interface EditedRun {
  readonly binding: BindingType;
  readonly reason: RunReason;
  readonly allowFailure: boolean;
  readonly queue: string;
}

/**
 * The consequences of an edit: onStartup and Synchronizations run again, everything else uses the
 * file later.
 */
export interface EditPlan {
  readonly runs: readonly EditedRun[];
  /** Bindings that run in the converge after each reload. */
  readonly inConverge: readonly string[];
  /** Bindings that must not run without their event, tick, deletion or request. */
  readonly atNextRun: readonly string[];
}

/**
 * Decides which bindings run again after an edit that leaves the configuration of the hook
 * unchanged.
 *
 * @param isDue whether a run will follow anyway, or is not possible yet
 */
export function planEdit(config: HookConfig, isDue: (reason: RunReason) => boolean): EditPlan {
  const startup: EditedRun = {
    binding: 'onStartup',
    reason: { type: 'lifecycle', binding: 'onStartup' },
    allowFailure: false,
    queue: MAIN_QUEUE,
  };
  const synchronizations = config.kubernetes
    .filter(({ executeOnSynchronization }) => executeOnSynchronization)
    .map((binding): EditedRun => {
      const { allowFailure, queue } = binding;
      return { binding: 'kubernetes', reason: { type: 'synchronization', binding }, allowFailure, queue };
    });
  const candidates = [...(config.lifecycle.onStartup === undefined ? [] : [startup]), ...synchronizations];
  const lifecycle = ORDER_SECTIONS.filter(
    (name) => name !== 'onStartup' && config.lifecycle[name] !== undefined,
  );
  return {
    runs: candidates.filter(({ reason }) => !isDue(reason)),
    inConverge: lifecycle.filter(isPartOfConverge),
    atNextRun: [
      ...lifecycle.filter((name) => !isPartOfConverge(name)),
      ...namedBindings(config)
        .filter((binding) => binding.type !== 'kubernetes' || !binding.executeOnSynchronization)
        .map(({ name }) => name),
    ],
  };
}

/** Other lifecycle bindings are for deletions and deployments. */
export function describeEdit({ runs, inConverge, atNextRun }: EditPlan): string {
  const again = runs.map(({ reason }) =>
    reason.type === 'synchronization' ? `Synchronization of ${reason.binding.name}` : 'onStartup',
  );
  const parts = [
    ...(again.length === 0 ? [] : [`runs again now (${again.join(', ')})`]),
    ...(inConverge.length === 0 ? [] : [`runs in the converge that follows (${inConverge.join(', ')})`]),
    ...(atNextRun.length === 0 ? [] : [`is used at the next run (${atNextRun.join(', ')})`]),
  ];
  return parts.length === 0 ? 'is used at its run, which is pending' : parts.join(', ');
}

/**
 * Queues the runs of an edited hook, and cuts the back-off of its failed runs. Called when the
 * following converge is queued already: runs for `main` go in front of it.
 */
export function rerunEdited(parts: EditedHooksParts, runtime: HookRuntime): EditPlan {
  const { queues } = parts;
  const plan = planEdit(runtime.hook.config, isDueFor(parts, runtime));
  const tasks = plan.runs.map(({ reason, queue, ...run }) => {
    const cause = { hook: runtime, reasons: [reason], trigger: FILES_CHANGED, activation: '' };
    return { queue, task: hookTask({ ...run, ...cause }) };
  });
  for (const { reason } of plan.runs)
    if (reason.type === 'synchronization') expectSynchronization(parts, runtime.hook, reason.binding);
  queues.get(MAIN_QUEUE).prepend(...tasks.flatMap(({ queue, task }) => (queue === MAIN_QUEUE ? task : [])));
  for (const { queue, task } of tasks) if (queue !== MAIN_QUEUE) appendHookRun(parts, task, queue);
  // A head that fails may have failed because of the old file.
  for (const queue of queues.all) {
    const head = queue.entries[0]?.task;
    if (head !== undefined && 'hook' in head && head.hook === runtime) queue.cutDelay();
  }
  return plan;
}

/**
 * Expects the Synchronization, so that the next module run queues it again if a restarted converge
 * drops it from `main`.
 */
function expectSynchronization(
  { registry }: EditedHooksParts,
  { owner }: Hook,
  binding: KubernetesBinding,
): void {
  if (owner.type === 'module') registry.tracked.get(owner.module)?.synchronization.expect(binding, false);
}

/** Returns whether a run of the hook is queued, follows anyway, or is not possible yet. */
function isDueFor(parts: EditedHooksParts, runtime: HookRuntime): (reason: RunReason) => boolean {
  const { owner } = runtime.hook;
  const tracked = owner.type === 'module' ? parts.registry.tracked.get(owner.module) : undefined;
  const synchronization =
    owner.type === 'global' ? parts.globalHooks.synchronization : tracked?.synchronization;
  // A module in its start-up repeats the hook anyway; one that is no longer wanted is about to end.
  const isStarting = tracked?.phase === 'startup' || tracked?.mustRepeatStartup === true;
  const isUnwanted = owner.type === 'module' && !parts.registry.isWanted(owner.module);
  return (reason) => {
    if (isUnwanted || runtime.isSetAside || isQueued(parts.queues, runtime, reason)) return true;
    if (reason.type !== 'synchronization') return isStarting;
    return !runtime.isMonitored(reason.binding.index) || synchronization?.isPending(reason.binding) === true;
  };
}

/**
 * Whether the same run is queued. A run in progress began with the old file, so it does not count.
 */
function isQueued(queues: QueueSet<Task>, runtime: HookRuntime, reason: RunReason): boolean {
  return queues.all.some((queue) =>
    queue.entries.some((entry) => {
      const { task } = entry;
      if (!('reasons' in task) || task.hook !== runtime || queue.isRunning(entry)) return false;
      return task.reasons.some((other) => other.type === reason.type && other.binding === reason.binding);
    }),
  );
}
