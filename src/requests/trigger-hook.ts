import type { Logger } from '@addon-operator/base/log';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { BindingType } from '../hook-config/binding-kinds.ts';
import { type HookConfig, type KubernetesBinding, queuedBindings } from '../hook-config/hook-config.ts';
import type { SnapshotItem } from '../hook-config/kubernetes-binding.ts';
import { type RunReason, requestedReason } from '../hooks/binding-context.ts';
import { fullName } from '../hooks/hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { ownQueueName } from '../model/own-queue.ts';
import { hookTask, REQUESTED, type Task } from '../model/tasks.ts';
import { appendToOwnQueue } from '../queues/compact-queue.ts';
import type { HeldRuns } from '../queues/held-runs.ts';
import type { HookTriggerOutcome, HookTriggerRequest } from '../status/hook-trigger.ts';

/** The parts that a triggered run is queued with. */
export interface TriggerHookParts {
  readonly registry: Pick<ModuleRegistry, 'tracked'>;
  readonly globalHooks: Pick<GlobalHooks, 'runtimes'>;
  readonly queues: QueueSet<Task>;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  readonly log: Logger;
  readonly router: { readonly held: Pick<HeldRuns, 'releaseNow'> };
}

/** The run that a trigger plans, before it becomes a task. */
interface PlannedRun {
  readonly binding: BindingType;
  readonly reasons: readonly [RunReason];
  readonly allowFailure: boolean;
}

/** The hooks in operation, global ones first. */
export function hooksInOperation({
  registry,
  globalHooks,
}: Pick<TriggerHookParts, 'registry' | 'globalHooks'>): readonly HookRuntime[] {
  const ofModules = [...registry.tracked.values()].flatMap(({ hooks }) => hooks ?? []);
  return [...globalHooks.runtimes, ...ofModules].filter(({ isStopped }) => !isStopped);
}

/**
 * Queues one run of a hook, on request of a user, in the queue of the binding, as an event or a
 * tick would. Refused with a sentence for unknown hooks, and for bindings that cannot run by
 * themselves.
 */
export function triggerHook(
  parts: TriggerHookParts,
  { hook: name, binding, object }: HookTriggerRequest,
): HookTriggerOutcome {
  const known = hooksInOperation(parts);
  const found = known.filter(({ hook }) => hook.name === name || fullName(hook) === name);
  const [runtime] = found;
  const namesOf = (runtimes: readonly HookRuntime[]): readonly string[] =>
    runtimes.map(({ hook }) => fullName(hook));
  if (runtime === undefined) return refused(`there is no hook ${name}${didYouMean(name, namesOf(known))}`);
  if (found.length > 1)
    return refused(`several hooks have this name: name one of ${namesOf(found).toSorted().join(', ')}`);
  if (runtime.isSetAside)
    return refused(`hook ${name} is not run before it may watch what its bindings name`);
  const planned = plan(runtime, binding, object);
  if (typeof planned === 'string') return refused(planned);
  const task = hookTask({ hook: runtime, ...planned, trigger: REQUESTED, activation: '' });
  const queue = ownQueueName(task);
  // Delayed and debounced runs are released first, so that the hook gets its events in order.
  parts.router.held.releaseNow(runtime, queue);
  const ahead = parts.queues.find(queue)?.length ?? 0;
  appendToOwnQueue(parts, task);
  return { type: 'queued', queue, ahead };
}

function refused(reason: string): HookTriggerOutcome {
  return { type: 'refused', reason };
}

/** The planned run, or the reason of the refusal. */
function plan(runtime: HookRuntime, name: string, object: string | undefined): PlannedRun | string {
  const { config } = runtime.hook;
  const binding = queuedBindings(config).find((each) => each.name === name);
  if (binding?.type === 'kubernetes') return planWatched(runtime, binding, object);
  if (object !== undefined) return `--object is for kubernetes bindings, and ${name} is none`;
  if (binding !== undefined) {
    const { type, allowFailure } = binding;
    return { binding: type, reasons: [requestedReason(binding)], allowFailure };
  }
  if (name === 'onStartup' && config.lifecycle.onStartup !== undefined)
    return {
      binding: name,
      reasons: [{ type: 'lifecycle', binding: name }],
      // A failing run must not block the modules, which run in the same queue.
      allowFailure: true,
    };
  const names = triggerable(config);
  return `hook ${runtime.hook.name} has no binding ${name} that can be triggered${didYouMean(name, names)}; it has ${names.join(', ') || 'none'}. Other bindings run with their module (module reconcile NAME), in converges, or for requests of the API server`;
}

function triggerable(config: HookConfig): readonly string[] {
  const named = queuedBindings(config).map(({ name }) => name);
  return config.lifecycle.onStartup === undefined ? named : ['onStartup', ...named];
}

function planWatched(
  runtime: HookRuntime,
  binding: KubernetesBinding,
  object: string | undefined,
): PlannedRun | string {
  const { name, allowFailure } = binding;
  const common = { binding: 'kubernetes', allowFailure } as const;
  if (!runtime.isMonitored(binding.index))
    return `binding ${name} is not watched yet: the hook gets its Synchronization without a request`;
  if (object === undefined)
    return binding.executeOnSynchronization
      ? { ...common, reasons: [{ type: 'synchronization', binding }] }
      : `binding ${name} has no Synchronization (executeHookOnSynchronization: false): choose an object with --object`;
  const { keepFullObjects, executeOnEvents } = binding.watch;
  if (!keepFullObjects)
    return `binding ${name} keeps no objects (keepFullObjectsInMemory: false): trigger it without --object`;
  const item = runtime.peek(binding.index).find((each) => isNamed(each, object));
  if (item?.object === undefined)
    return `the snapshot of binding ${name} has no ${object}: write KIND/NAMESPACE/NAME, or KIND/NAME for an object without a namespace`;
  // An existing object can only appear as added or modified.
  const watchEvent = (['Modified', 'Added'] as const).find((type) => executeOnEvents.includes(type));
  if (watchEvent === undefined) return `binding ${name} runs for no object that exists (executeHookOnEvent)`;
  const { namespace = '', name: objectName } = item.object.metadata;
  const event = { watchEvent, key: `${namespace}/${objectName}`, item };
  return { ...common, reasons: [{ type: 'event', binding, event }] };
}

function isNamed({ object }: SnapshotItem, name: string): boolean {
  if (object === undefined) return false;
  const { kind, metadata } = object;
  const path = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
  return `${kind}/${path}`.toLowerCase() === name.toLowerCase();
}
