import type { Logger } from '@addon-operator/base/log';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { isIndependent } from '../hook-config/binding-kinds.ts';
import { groupOf, type RunReason } from '../hooks/binding-context.ts';
import { coalesceEvents } from '../hooks/coalesce-events.ts';
import { coalesces } from '../hooks/hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { ownQueueOf } from '../model/own-queue.ts';
import type { HookTask, Task } from '../model/tasks.ts';

/** A queue is checked for compaction each time its length passes a multiple of this. */
const STEP = 100;

interface AppendDeps {
  readonly queues: Pick<QueueSet<Task>, 'get'>;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  readonly log: Logger;
}

/**
 * Appends a hook run to a queue; in a long queue the waiting runs of each hook are combined. The
 * router calls it for each event, so a burst of events costs a few runs, not thousands.
 */
export function appendHookRun(deps: AppendDeps, task: HookTask, name: string): void {
  append(deps, task, deps.queues.get(name));
}

/** The same for the queue of the run's binding, or for the lane of its key. */
export function appendToOwnQueue(
  deps: AppendDeps & { readonly queues: Pick<QueueSet<Task>, 'get' | 'lane'> },
  task: HookTask,
): void {
  const { queue, lane } = ownQueueOf(task);
  const { queues } = deps;
  append(deps, task, lane === undefined ? queues.get(queue) : queues.lane(queue, lane.key, lane.parallel));
}

function append({ metrics, log }: Omit<AppendDeps, 'queues'>, task: HookTask, queue: TaskQueue<Task>): void {
  queue.append(task);
  // One past a multiple of STEP: a scan for each event would cost quadratic time in a long queue.
  if (queue.length <= STEP || queue.length % STEP !== 1) return;
  for (const hook of compactCrowds(queue)) {
    metrics.queueCompaction(queue.lane?.queue ?? queue.name, hook);
    log.warn(
      { queue: queue.name, hook, tasks: queue.length },
      'the queue is long: combined all queued runs of the hook',
    );
  }
}

/**
 * Bounds a queue whose head fails: at least 100 waiting tasks of a hook become one, in the place of
 * the first. Tasks with and without `allowFailure` are combined separately, because they fail
 * differently. Ungrouped contexts all stay, in order; of each group only the last one, behind them.
 *
 * @returns names of the hooks whose tasks were combined
 */
function compactCrowds(queue: TaskQueue<Task>): readonly string[] {
  const crowds = new Map<HookRuntime, readonly [strict: HookTask[], lenient: HookTask[]]>();
  for (const entry of queue.entries) {
    if (!isMergeable(entry.task) || queue.isAtWork(entry)) continue;
    const crowd = crowds.get(entry.task.hook) ?? [[], []];
    crowds.set(entry.task.hook, crowd);
    crowd[entry.task.allowFailure ? 1 : 0].push(entry.task);
  }
  const merged = new Map<Task, HookTask | undefined>();
  for (const tasks of [...crowds.values()].flat().filter(({ length }) => length >= STEP)) {
    const [first] = tasks;
    if (first === undefined) continue;
    const all = tasks.flatMap((task) => task.reasons);
    // Coalescing counts from the first reason; after a failed attempt that one is no longer at the
    // beginning.
    const isAttempted = tasks.some(({ attempted = 0 }) => attempted > 0);
    const reasons = lastOfEachGroup(isAttempted || !coalesces(first.hook.hook) ? all : coalesceEvents(all));
    for (const [index, task] of tasks.entries())
      merged.set(task, index === 0 && reasons.length > 0 ? { ...task, reasons } : undefined);
  }
  if (merged.size === 0) return [];
  queue.rewrite((task) => (merged.has(task) ? merged.get(task) : task));
  return [...crowds].flatMap(([{ hook }, crowd]) =>
    crowd.some(({ length }) => length >= STEP) ? [hook.name] : [],
  );
}

/** The number of tasks of each hook with more than `above` of them, by hook name. */
export function crowdsIn(queues: readonly TaskQueue<Task>[], above: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { task } of queues.flatMap(({ entries }) => entries)) {
    if (!('hook' in task)) continue;
    const { name } = task.hook.hook;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, count]) => count > above));
}

function isMergeable(task: Task): task is HookTask {
  if (task.type !== 'GlobalHookRun' && task.type !== 'ModuleHookRun') return false;
  return isIndependent(task.reasons);
}

function lastOfEachGroup(reasons: readonly RunReason[]): readonly RunReason[] {
  const groups = new Map<string, RunReason>();
  const ungrouped: RunReason[] = [];
  for (const reason of reasons) {
    const group = groupOf(reason);
    if (group === undefined) ungrouped.push(reason);
    else groups.set(group, reason);
  }
  return [...ungrouped, ...groups.values()];
}
