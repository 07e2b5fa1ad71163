import { groupOf, type RunReason } from '../hooks/binding-context.ts';
import type { Logger } from '../lib/log.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { QueueSet } from '../queue/queue-set.ts';
import type { TaskQueue } from '../queue/task-queue.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { HookTask, Task } from './tasks.ts';

/** A queue is looked at each time its length passes a multiple of this. */
const STEP = 100;

interface AppendDeps {
  readonly queues: Pick<QueueSet<Task>, 'get'>;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  readonly log: Logger;
}

/** Puts the run of a hook at the end of a queue; in a long one runs of the hook that wait become one. */
export function appendHookRun({ queues, metrics, log }: AppendDeps, task: HookTask, name: string): void {
  const queue = queues.get(name);
  queue.append(task);
  const { hook } = task.hook;
  if (!compactOverflow(queue, task.hook)) return;
  metrics.queueCompaction(name, hook.name);
  log.warn(
    { queue: name, hook: hook.name, tasks: queue.length },
    'the queue is long: all waiting runs of the hook became one',
  );
}

/**
 * Keeps a queue from growing without end while its head fails: when a hook that was just queued owns at least 100 tasks of
 * a long queue, all of them that wait become one run, in the place of the first. Ungrouped contexts all stay, in order;
 * of each group the last one, behind them.
 *
 * @returns whether tasks were merged
 */
function compactOverflow(queue: TaskQueue<Task>, hook: HookRuntime): boolean {
  if (queue.length <= STEP || queue.length % STEP !== 1) return false;
  if (hook.hook.config.version === 'v0') return false;
  const mine = queue.entries.flatMap((entry) =>
    isMergeable(entry.task, hook) && !queue.isAtWork(entry) ? [{ entry, task: entry.task }] : [],
  );
  const [first] = mine;
  if (first === undefined) return false;
  // A failure is allowed or not for all contexts of a run.
  const merged = mine.filter(({ task }) => task.allowFailure === first.task.allowFailure);
  if (merged.length < STEP) return false;
  const reasons = lastOfEachGroup(merged.flatMap(({ task }) => task.reasons));
  const gone = new Set<Task>(merged.slice(1).map(({ task }) => task));
  queue.replaceTask(first.entry, { ...first.task, reasons });
  queue.remove((task) => gone.has(task));
  return true;
}

/** How many tasks each hook with more than `above` of them has in a queue, by hook name. */
export function crowdsIn(queue: TaskQueue<Task>, above: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { task } of queue.entries) {
    if (!('hook' in task)) continue;
    const { name } = task.hook.hook;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, count]) => count > above));
}

function isMergeable(task: Task, hook: HookRuntime): task is HookTask {
  if (task.type !== 'GlobalHookRun' && task.type !== 'ModuleHookRun') return false;
  return task.hook === hook && task.reasons.every(({ type }) => type === 'event' || type === 'schedule');
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
