import { OperatorError } from '@addon-operator/base/errors';
import { didYouMean } from '@addon-operator/json/similar-word';
import { type BindingType, LIFECYCLE_BINDINGS, type LifecycleBinding } from '../hook-config/binding-kinds.ts';
import {
  type HookConfig,
  type KubernetesBinding,
  type QueuedBinding,
  queuedBindings,
} from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import { mayShareRun, type RunReason, requestedReason } from '../hooks/binding-context.ts';

/** One run that a hook is to be given. */
export interface PlannedRun {
  readonly binding: BindingType;
  readonly reasons: readonly RunReason[];
}

/** The name and the run of each binding that can be run without a request, an event or facts of a deployment. */
export function runnableBindings(config: HookConfig): ReadonlyMap<string, PlannedRun> {
  return new Map([
    ...LIFECYCLE_BINDINGS.filter((binding) => config.lifecycle[binding] !== undefined).map(
      (binding) => [binding, lifecycleRun(binding)] as const,
    ),
    ...queuedBindings(config).map((binding) => [binding.name, requestedRun(binding)] as const),
  ]);
}

function lifecycleRun(binding: LifecycleBinding): PlannedRun {
  return { binding, reasons: [{ type: 'lifecycle', binding }] };
}

function requestedRun(binding: QueuedBinding): PlannedRun {
  return { binding: binding.type, reasons: [requestedReason(binding)] };
}

function synchronizationRun(bindings: readonly KubernetesBinding[]): PlannedRun {
  return {
    binding: 'kubernetes',
    reasons: bindings.map((binding) => ({ type: 'synchronization', binding })),
  };
}

/**
 * The runs of a hook when it is started: onStartup, then the Synchronization of its kubernetes bindings, those of one queue
 * together where the operator combines them. A hook without either is given the first of its other bindings.
 */
export function runsAtStart(config: HookConfig): readonly PlannedRun[] {
  const startup = config.lifecycle.onStartup === undefined ? [] : [lifecycleRun('onStartup')];
  const runs = [...startup, ...synchronizationRuns(config)];
  return runs.length > 0 ? runs : [...runnableBindings(config).values()].slice(0, 1);
}

function synchronizationRuns({ kubernetes }: HookConfig): readonly PlannedRun[] {
  const groups: KubernetesBinding[][] = [];
  for (const binding of kubernetes.filter(({ executeOnSynchronization }) => executeOnSynchronization)) {
    const group = groups.find((others) => others.every((other) => areCombined(other, binding)));
    if (group === undefined) groups.push([binding]);
    else group.push(binding);
  }
  return groups.map(synchronizationRun);
}

function areCombined(a: KubernetesBinding, b: KubernetesBinding): boolean {
  const [one, other] = synchronizationRun([a, b]).reasons;
  return a.queue === b.queue && one !== undefined && other !== undefined && mayShareRun(one, other);
}

/**
 * The run of one binding: of a kubernetes binding its Synchronization.
 *
 * @param name a lifecycle binding such as `beforeHelm`, or the name of a kubernetes or schedule binding
 * @throws OperatorError CONFIG_INVALID listing the bindings there are
 */
export function runOfBinding(config: HookConfig, name: string): PlannedRun {
  const runs = runnableBindings(config);
  const run = runs.get(name);
  if (run !== undefined) return run;
  const names = [...runs.keys()];
  throw new OperatorError(
    'CONFIG_INVALID',
    names.length === 0
      ? `the hook has no binding '${name}' that can be run by this command; it runs lifecycle, kubernetes and schedule bindings`
      : `the hook has no binding '${name}'${didYouMean(name, names)}; it has ${names.join(', ')}`,
  );
}

/** The run for events of kubernetes bindings. */
export function eventRun(
  events: readonly { readonly binding: KubernetesBinding; readonly event: KubernetesEvent }[],
): PlannedRun {
  return {
    binding: 'kubernetes',
    reasons: events.map(({ binding, event }) => ({ type: 'event', binding, event })),
  };
}

/**
 * The binding that an event is meant for: the one of that name, or the only one.
 *
 * @throws OperatorError CONFIG_INVALID when it is not clear which
 */
export function bindingForEvent({ kubernetes }: HookConfig, name: string | undefined): KubernetesBinding {
  const names = kubernetes.map((binding) => binding.name);
  const [only] = kubernetes;
  if (only === undefined)
    throw new OperatorError('CONFIG_INVALID', '--event: the hook has no kubernetes bindings');
  if (name === undefined && kubernetes.length === 1) return only;
  const found = kubernetes.find((binding) => binding.name === name);
  if (found !== undefined) return found;
  throw new OperatorError(
    'CONFIG_INVALID',
    name === undefined
      ? `--event: the hook has several kubernetes bindings: choose one with --binding: ${names.join(', ')}`
      : `the hook has no kubernetes binding '${name}'${didYouMean(name, names)}; it has ${names.join(', ')}`,
  );
}
