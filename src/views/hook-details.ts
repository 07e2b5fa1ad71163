import type { Clock } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { parseCrontab } from '@addon-operator/crontab';
import {
  type KubernetesBinding,
  type NamedBinding,
  namedBindings,
  type ScheduleBinding,
} from '../hook-config/hook-config.ts';
import type { SnapshotItem } from '../hook-config/kubernetes-binding.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import type { Journal } from '../journal/journal.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { statesOf } from '../queues/binding-problems.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type {
  BindingSnapshot,
  HookBindingView,
  HookPatchView,
  HookSnapshots,
  HookView,
  SnapshotItemView,
  WatchView,
} from '../status/module-details.ts';
import type { ValuesOwner } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { Explained } from './explained.ts';

/** The parts that the details of hooks are read from. */
export type HookDetailsParts = Pick<Explained, 'clock' | 'execution'> & {
  readonly journal: Pick<Journal, 'list'>;
  readonly router: Pick<TaskRouter, 'takesTicks'>;
};

const MAX_ITEMS = 200;
/**
 * The maximum length of an item's content: longer ones make the response slow, and are not read to
 * the end.
 */
const MAX_CONTENT_LENGTH = 16 * 1024;
const RUNS_OF_HOOK = 5;
const HIDDEN = '***';
const MAIN = 'main';

/** The patches of hooks to the values of an owner, parents before their children. */
export function hookPatchViews(values: ValuesStore, owner: ValuesOwner): readonly HookPatchView[] {
  return values.patches(owner).map((operation) => ({
    hook: operation.hook ?? '',
    op: operation.op,
    path: operation.path,
    value: 'value' in operation ? operation.value : null,
  }));
}

/** The snapshots of hooks with kubernetes bindings. Content of Secrets is masked. */
export function snapshotViews(runtimes: readonly HookRuntime[]): readonly HookSnapshots[] {
  return runtimes
    .filter(({ hook }) => hook.config.kubernetes.length > 0)
    .map((runtime) => ({
      hook: runtime.hook.name,
      bindings: runtime.hook.config.kubernetes.map((binding) => bindingSnapshot(runtime, binding)),
    }));
}

/**
 * The snapshot of one binding with its counts since the start. At most {@link MAX_ITEMS} items are
 * included.
 */
function bindingSnapshot(runtime: HookRuntime, binding: KubernetesBinding): BindingSnapshot {
  const items = runtime.peek(binding.index);
  const { added, modified, deleted } = runtime.operations(binding.index).sinceStart;
  const { watchFailure, filterFailures } = runtime.health(binding.index);
  // By kind, because a filter result does not show that it came from a Secret.
  const isSecret = /^secrets?$/i.test(binding.watch.kind);
  return {
    binding: binding.name,
    kind: binding.watch.kind,
    queue: binding.queue,
    count: items.length,
    added,
    modified,
    deleted,
    problem: watchFailure?.error ?? filterFailures[0]?.error ?? null,
    items: items.slice(0, MAX_ITEMS).map((item) => snapshotItem(item, isSecret)),
    more: Math.max(0, items.length - MAX_ITEMS),
  };
}

/**
 * One item: the filter result, or the object without a filter. `content` is null if it is too long.
 */
function snapshotItem({ object, filterResult }: SnapshotItem, isSecret: boolean): SnapshotItemView {
  const content = filterResult === undefined ? object : filterResult;
  const json = JSON.stringify(content ?? null);
  const isHidden = isSecret || object?.kind === 'Secret';
  return {
    namespace: object?.metadata.namespace ?? '',
    name: object?.metadata.name ?? '',
    content: isHidden ? HIDDEN : json.length > MAX_CONTENT_LENGTH ? null : (content ?? null),
    length: json.length,
  };
}

/** Hooks with their bindings and last runs. */
export function hookViews(parts: HookDetailsParts, runtimes: readonly HookRuntime[]): readonly HookView[] {
  const { clock, execution, journal, router } = parts;
  const running = execution.running.withAges;
  const nowMs = clock.wallMs();
  return runtimes.map((runtime) => {
    const { hook } = runtime;
    const module = moduleNameOf(hook);
    const run = running.find(({ labels }) => labels.hook === hook.name && (labels.module ?? '') === module);
    return {
      name: hook.name,
      transport: hook.transport,
      runningMs: run?.runningMs ?? null,
      bindings: bindingViews(runtime, router.takesTicks(runtime) ? nowMs : undefined),
      runs: journal.list({ module, hook: hook.name, limit: RUNS_OF_HOOK }).runs,
    };
  });
}

const NO_BINDING: Omit<HookBindingView, 'type'> = {
  name: '',
  queue: '',
  order: null,
  crontab: '',
  nextAt: null,
  kind: '',
  allowFailure: false,
};

/** @param ticksAfterMs undefined while ticks are ignored, so that no next tick is shown */
function bindingViews({ hook }: HookRuntime, ticksAfterMs: number | undefined): readonly HookBindingView[] {
  const { config } = hook;
  const others = namedBindings(config).filter(({ type }) => type !== 'schedule');
  return [
    ...Object.entries(config.lifecycle).map(([type, order]) => ({
      ...NO_BINDING,
      type,
      name: type,
      queue: MAIN,
      order,
    })),
    ...[...config.schedule, ...others].map((binding) => bindingView(binding, ticksAfterMs)),
  ];
}

/** The fields that bindings with a queue share. */
function bindingView(binding: NamedBinding, ticksAfterMs: number | undefined): HookBindingView {
  const { type, name } = binding;
  if (!('queue' in binding)) return { ...NO_BINDING, type, name };
  const { queue, allowFailure } = binding;
  return {
    ...NO_BINDING,
    type,
    name,
    queue,
    allowFailure,
    ...('watch' in binding && { kind: binding.watch.kind }),
    ...('crontab' in binding && {
      crontab: binding.crontab,
      nextAt: ticksAfterMs === undefined ? null : nextTick(binding, ticksAfterMs),
    }),
  };
}

/** The next tick in ISO 8601; null if the crontab never fires again. */
function nextTick({ crontab }: ScheduleBinding, nowMs: number): string | null {
  const atMs = parseCrontab(crontab).next(nowMs);
  return atMs === undefined ? null : isoTime(atMs);
}

/** The watches of all hooks, with the time since the last message of each. */
export function watchViews(runtimes: readonly HookRuntime[], clock: Clock): readonly WatchView[] {
  return statesOf(runtimes).map(({ runtime, binding, health: { lastActivityMs, watchFailure } }) => ({
    module: moduleNameOf(runtime.hook),
    hook: runtime.hook.name,
    binding: binding.name,
    kind: binding.watch.kind,
    ageMs: lastActivityMs === undefined ? null : Math.max(0, Math.round(clock.steadyMs() - lastActivityMs)),
    problem: watchFailure?.error ?? null,
  }));
}
