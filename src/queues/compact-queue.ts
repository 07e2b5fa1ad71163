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

/** A queue is looked at each time its length passes a multiple of this. */
const STEP = 100;

interface AppendDeps {
  readonly queues: Pick<QueueSet<Task>, 'get'>;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  readonly log: Logger;
}

/**
 * Puts the run of a hook at the end of a queue; in a long one runs of a hook that wait become one. The router calls it for
 * each event, so a burst costs a few runs and not thousands.
 */
export function appendHookRun(deps: AppendDeps, task: HookTask, name: string): void {
  append(deps, task, deps.queues.get(name));
}

/** The same for the queue of the binding that the run is for, or of the key in that queue. */
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
 * Keeps a queue from growing without end while its head fails: the tasks of a hook that wait become one, in the place of
 * the first, when there are at least 100 that may fail alike. Ungrouped contexts all stay, in order; of each group the
 * last one, behind them.
 *
 * @returns names of the hooks whose tasks were merged
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
    // What runs have failed on is no longer at the beginning.
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

/** How many tasks each hook with more than `above` of them has in some queues, by hook name. */
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
