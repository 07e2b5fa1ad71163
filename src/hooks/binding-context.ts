/**
 * Builds the binding contexts of a run from the reasons that wait in the queue. Snapshots are read here, when the run
 * starts, so a hook always sees the newest state, and all contexts of a run see the same one. Adjacent reasons of one
 * group become one context. `context-document.ts` writes the result as JSON.
 */

import { isDeepStrictEqual } from 'node:util';
import type { SpanAttributes } from '@addon-operator/base/trace';
import type { DeployBinding, DeployFacts } from '@addon-operator/sdk';
import type { AdmissionBinding, AdmissionType } from '../hook-config/admission-binding.ts';
import type { LifecycleBinding, ReasonOf, ReasonType, WebhookKind } from '../hook-config/binding-kinds.ts';
import type { ConversionBinding, ConversionRule } from '../hook-config/conversion-binding.ts';
import type { KubernetesBinding, QueuedBinding, ScheduleBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent, SnapshotItem, WatchEventType } from '../hook-config/kubernetes-binding.ts';
import type { BindingContext, NumberedContext } from './context-document.ts';

/** A step in the deployment of a module, and the facts for the hook. */
export type DeployReason = {
  readonly [B in DeployBinding]: {
    readonly type: 'deploy';
    readonly binding: B;
    readonly facts: DeployFacts[B];
  };
}[DeployBinding];

interface Reasons {
  readonly lifecycle: { readonly type: 'lifecycle'; readonly binding: LifecycleBinding };
  readonly deploy: DeployReason;
  readonly schedule: { readonly type: 'schedule'; readonly binding: ScheduleBinding };
  readonly synchronization: { readonly type: 'synchronization'; readonly binding: KubernetesBinding };
  readonly event: {
    readonly type: 'event';
    readonly binding: KubernetesBinding;
    readonly event: KubernetesEvent;
  };
  readonly admission: {
    readonly type: 'admission';
    readonly binding: AdmissionBinding;
    /** The review of the API server, with only `request` in it. */
    readonly review: unknown;
  };
  readonly conversion: {
    readonly type: 'conversion';
    readonly binding: ConversionBinding;
    readonly rule: ConversionRule;
    /** The review of the API server, with only `request` in it. */
    readonly review: unknown;
  };
}

/** Why a hook is to be run, as it waits in a queue: snapshots are added when the run starts. */
export type RunReason = Reasons[ReasonType];

/** A request to a webhook of a hook. */
export type WebhookReason = Reasons[ReasonOf<WebhookKind>];

/** The snapshot of one kubernetes binding, by its position in the hook's configuration. */
type SnapshotReader = (bindingIndex: number) => readonly SnapshotItem[];

/** Whether the next reason is of the same group: it gives the hook the same snapshots again. */
function isRepeatedBy(reason: RunReason, next: RunReason | undefined): boolean {
  const group = groupOf(reason);
  return group !== undefined && next !== undefined && groupOf(next) === group;
}

/** The group of the binding a hook runs for. */
export function groupOf(reason: RunReason): string | undefined {
  return typeof reason.binding === 'string' ? undefined : reason.binding.group;
}

/** The name of the binding a hook runs for, as in its context. */
export function bindingNameOf({ binding }: RunReason): string {
  return typeof binding === 'string' ? binding : binding.name;
}

/**
 * Builds the binding contexts of one run, each when it is taken. Every snapshot is read once and at once, so all contexts of
 * the run see the same state, whenever they are taken.
 *
 * @param kubernetes the kubernetes bindings of the hook, in configuration order
 */
export function buildBindingContexts(
  reasons: readonly RunReason[],
  kubernetes: readonly KubernetesBinding[],
  read: SnapshotReader,
): Iterable<NumberedContext> {
  const state = new Map<number, readonly SnapshotItem[]>();
  for (const reason of reasons)
    for (const index of snapshotsOf(reason, kubernetes)) if (!state.has(index)) state.set(index, read(index));
  const taken: SnapshotReader = (index) => state.get(index) ?? [];
  const snapshots = (indexes: readonly number[]) =>
    // Of bindings with the same name the first counts, and that is the one written last.
    Object.fromEntries(indexes.toReversed().map((index) => [kubernetes[index]?.name ?? '', taken(index)]));
  return contextsOf(reasons, (reason) => contextOf(reason, kubernetes, taken, snapshots));
}

function* contextsOf(
  reasons: readonly RunReason[],
  build: (reason: RunReason) => BindingContext,
): Generator<NumberedContext, void> {
  for (const [index, reason] of reasons.entries())
    if (!isRepeatedBy(reason, reasons[index + 1])) yield { context: build(reason), covered: index + 1 };
}

/** The snapshots that the context of a reason holds. */
function snapshotsOf(reason: RunReason, kubernetes: readonly KubernetesBinding[]): readonly number[] {
  // Watches start after `onStartup`, so there are no snapshots yet.
  if (typeof reason.binding === 'string')
    return reason.binding === 'onStartup' ? [] : kubernetes.map(({ index }) => index);
  const { snapshotsFrom } = reason.binding;
  if (reason.type === 'synchronization' && reason.binding.group === undefined)
    return [reason.binding.index, ...snapshotsFrom];
  return snapshotsFrom;
}

function contextOf(
  reason: RunReason,
  kubernetes: readonly KubernetesBinding[],
  read: SnapshotReader,
  snapshots: (indexes: readonly number[]) => Record<string, readonly SnapshotItem[]>,
): BindingContext {
  const all = () => snapshots(kubernetes.map(({ index }) => index));
  const included = ({ snapshotsFrom }: { readonly snapshotsFrom: readonly number[] }) =>
    snapshotsFrom.length === 0 ? {} : { snapshots: snapshots(snapshotsFrom) };
  switch (reason.type) {
    case 'lifecycle': {
      const { binding } = reason;
      return binding === 'onStartup' ? { binding } : { binding, snapshots: all() };
    }
    case 'deploy':
      return { binding: reason.binding, ...reason.facts, snapshots: all() };
    case 'admission': {
      const { binding, review } = reason;
      return { binding: binding.name, type: REVIEWS[binding.type], review, ...included(binding) };
    }
    case 'conversion': {
      const { binding, rule, review } = reason;
      return { binding: binding.name, type: 'Conversion', ...rule, review, ...included(binding) };
    }
    case 'schedule':
    case 'synchronization':
    case 'event': {
      const { name, group } = reason.binding;
      const content =
        group === undefined ? contentOf(reason, read) : ({ type: 'Group', groupName: group } as const);
      return { binding: name, ...content, ...included(reason.binding) };
    }
  }
}

const REVIEWS: Readonly<Record<AdmissionType, string>> = {
  kubernetesValidating: 'Validating',
  kubernetesMutating: 'Mutating',
};

type QueuedReason = Extract<RunReason, { readonly binding: QueuedBinding }>;

/** The part of a context that a group replaces. */
function contentOf(reason: QueuedReason, read: SnapshotReader): Omit<BindingContext, 'binding'> {
  switch (reason.type) {
    case 'schedule':
      return { type: 'Schedule' };
    case 'synchronization':
      return { type: 'Synchronization', objects: read(reason.binding.index) };
    case 'event':
      return { type: 'Event', watchEvent: reason.event.watchEvent, ...reason.event.item };
  }
}

/** The reason for a run that is requested without an event: a Synchronization for a kubernetes binding. */
export function requestedReason(binding: QueuedBinding): QueuedReason {
  switch (binding.type) {
    case 'schedule':
      return { type: 'schedule', binding };
    case 'kubernetes':
      return { type: 'synchronization', binding };
  }
}

/** The event that a reason is, as traces show it; undefined for a reason that is part of another event. */
export function tracedEvent(
  reason: RunReason,
): { readonly type: string; readonly attributes: SpanAttributes } | undefined {
  switch (reason.type) {
    case 'lifecycle':
    case 'deploy':
      return undefined;
    case 'schedule': {
      const { name, crontab } = reason.binding;
      return {
        type: 'schedule',
        attributes: { 'addon_operator.binding.name': name, 'addon_operator.crontab': crontab },
      };
    }
    case 'synchronization':
      return {
        type: 'synchronization',
        attributes: { 'addon_operator.binding.name': reason.binding.name },
      };
    case 'event': {
      const { name, kind } = reason.binding.watch;
      const { metadata } = reason.event.item.object ?? {};
      return {
        type: 'kubernetes',
        attributes: {
          'addon_operator.binding.name': name,
          'addon_operator.watch_event': reason.event.watchEvent,
          'addon_operator.object.kind': kind,
          'addon_operator.object.name': metadata?.name,
          'k8s.namespace.name': metadata?.namespace,
        },
      };
    }
    case 'admission':
      return { type: 'admission', attributes: { 'addon_operator.binding.name': reason.binding.name } };
    case 'conversion':
      return { type: 'conversion', attributes: { 'addon_operator.binding.name': reason.binding.crdName } };
  }
}

/** The kubernetes bindings whose Synchronization is among the reasons. */
export function synchronizedBindings(reasons: readonly RunReason[]): readonly KubernetesBinding[] {
  return reasons.flatMap((reason) => (reason.type === 'synchronization' ? [reason.binding] : []));
}

/** Whether two Synchronizations may be given to the hook in one run. */
export function mayShareRun(a: RunReason, b: RunReason): boolean {
  if (a.type !== 'synchronization' || b.type !== 'synchronization') return true;
  const flags = ({ binding }: typeof a) => [binding.executeOnSynchronization, binding.waitForSynchronization];
  return isDeepStrictEqual(flags(a), flags(b));
}

const RESOURCE_EVENTS: Readonly<Record<WatchEventType, string>> = {
  Added: 'add',
  Modified: 'update',
  Deleted: 'delete',
};

/** Binding contexts for a hook without `configVersion`: the binding, and of a changed object its name. */
export function buildBindingContextsV0(reasons: readonly RunReason[]): readonly NumberedContext[] {
  return reasons.map((reason, index) => ({ context: contextV0Of(reason), covered: index + 1 }));
}

function contextV0Of(reason: RunReason): BindingContext {
  const binding = bindingNameOf(reason);
  if (reason.type !== 'event') return { binding };
  const { watchEvent, item } = reason.event;
  return {
    binding,
    resourceEvent: RESOURCE_EVENTS[watchEvent],
    resourceNamespace: item.object?.metadata.namespace ?? '',
    resourceKind: item.object?.kind ?? '',
    resourceName: item.object?.metadata.name ?? '',
  };
}
