import { type Clock, wallTimeOf } from '@addon-operator/base/clock';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { QueueEntry, TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { RunningHooks } from '../model/running-hooks.ts';
import { hookOf, moduleOf, type Task } from '../model/tasks.ts';
import type { TaskQueueStatus, TaskQueueView, TaskView, TaskWait } from '../status/task-queues.ts';

/** The parts that the view of queues reads. */
export interface TaskQueueViewParts {
  readonly queues: QueueSet<Task>;
  readonly clock: Clock;
  readonly pauses: Pick<Pauses, 'of'>;
  readonly registry: Pick<ModuleRegistry, 'tracked'>;
  readonly execution: { readonly running: Pick<RunningHooks, 'all'> };
}

/** A queue can have any number of keys, so lists have only some of them. */
const MAX_KEYS = 100;

/** All queues, but of the keys of each only the first 100: those that run or are retried come before those that wait. */
export function listedQueues(
  queues: Pick<QueueSet<Task>, 'all'>,
): readonly { readonly queue: TaskQueue<Task>; readonly keys: number }[] {
  const { all } = queues;
  const lanes = Map.groupBy(
    all.filter(({ lane }) => lane !== undefined),
    ({ lane }) => lane?.queue ?? '',
  );
  const hidden = new Set<TaskQueue<Task>>();
  // Running and retried keys first: a user who lists queues looks for the cause of a delay.
  for (const ofQueue of lanes.values())
    for (const queue of ofQueue.toSorted((a, b) => turnRank(a) - turnRank(b)).slice(MAX_KEYS))
      hidden.add(queue);
  return all
    .filter((queue) => !hidden.has(queue))
    .map((queue) => ({ queue, keys: queue.lane === undefined ? (lanes.get(queue.name)?.length ?? 0) : 0 }));
}

function turnRank({ status }: TaskQueue<Task>): number {
  return status.type === 'queued' ? 1 : 0;
}

/**
 * Queues with their tasks as data, `main` first.
 *
 * @param maxTasks how many tasks of each queue are described
 */
export function taskQueueViews(parts: TaskQueueViewParts, maxTasks: number): readonly TaskQueueView[] {
  return listedQueues(parts.queues).map(({ queue, keys }) => {
    const entries = queue.entriesFromRunning;
    return {
      name: queue.name,
      length: entries.length,
      keys,
      status: statusOf(queue, parts.clock),
      tasks: entries.slice(0, maxTasks).map((entry, index) => ({
        ...taskView(queue.name, entry, parts.clock),
        waits: [...waitsOf(parts, queue, entries, index)],
      })),
    };
  });
}

/** Names a task: ids of entries are counted by each queue for itself. */
export function taskIdOf(queue: string, { id }: Pick<QueueEntry<Task>, 'id'>): string {
  return `${queue}/${id}`;
}

function statusOf({ status }: TaskQueue<Task>, clock: Clock): TaskQueueStatus {
  return {
    type: status.type === 'queued' ? 'repeating' : status.type,
    since: 'sinceMs' in status ? isoTime(wallTimeOf(status.sinceMs, clock)) : null,
    until: status.type === 'delayed' ? isoTime(status.retryAtMs) : null,
  };
}

function taskView(queue: string, entry: QueueEntry<Task>, clock: Clock): Omit<TaskView, 'waits'> {
  const { task, failures, lastError, lastCode = '', queuedAtMs } = entry;
  const { eventId = '', triggeredBy } = task;
  return {
    id: taskIdOf(queue, entry),
    type: task.type,
    module: moduleOf(task),
    hook: hookOf(task),
    binding: 'binding' in task ? task.binding : '',
    trigger: task.trigger,
    eventId,
    triggeredBy: triggeredBy === undefined ? null : { hook: triggeredBy.hook, binding: triggeredBy.binding },
    queuedAt: isoTime(wallTimeOf(queuedAtMs, clock)),
    failures,
    lastError,
    lastCode,
  };
}

// An entry behind the head waits for the head, and the head for what the status of the queue says.
function* waitsOf(
  parts: TaskQueueViewParts,
  queue: TaskQueue<Task>,
  entries: readonly QueueEntry<Task>[],
  index: number,
): Generator<TaskWait> {
  const [entry, head] = [entries[index], entries[0]];
  if (entry === undefined || head === undefined) return;
  if (index > 0) yield headWait(queue, head, index);
  else yield* waitsOfHead(parts, queue, entry);
  const { task } = entry;
  // A pause also holds a task that is not at the head, so it is listed in addition to the wait for the head.
  const pause = task.type === 'ModuleRun' ? parts.pauses.of(task.module) : undefined;
  if (pause !== undefined && task.type === 'ModuleRun')
    yield {
      for: 'pause',
      text: `module ${task.module} is ${pause.handedOverTo === undefined ? 'paused: ' : ''}${pause.reason}`,
      until: pause.untilMs === undefined ? null : isoTime(pause.untilMs),
      ref: task.module,
    };
}

function headWait({ name, status }: TaskQueue<Task>, head: QueueEntry<Task>, index: number): TaskWait {
  const others = index > 1 ? ` and ${index - 1} more` : '';
  return {
    for: 'head',
    text: `${titleOf(head.task)}${others} in front of it in queue ${name}`,
    until: status.type === 'delayed' ? isoTime(status.retryAtMs) : null,
    ref: taskIdOf(name, head),
  };
}

function* waitsOfHead(
  { registry, execution }: TaskQueueViewParts,
  { name, status, lane }: TaskQueue<Task>,
  { task, failures }: QueueEntry<Task>,
): Generator<TaskWait> {
  if (status.type === 'delayed') {
    const text = `the next attempt, after ${failures} failed`;
    yield { for: 'retry', text, until: isoTime(status.retryAtMs), ref: null };
  } else if (status.type === 'queued') {
    const text = `its turn among the keys of queue ${lane?.queue ?? name}, of which a limited number runs at a time`;
    yield { for: 'keys', text, until: null, ref: null };
  } else if (status.type === 'repeating') {
    const module = moduleOf(task);
    const tracked = task.type === 'ModuleRun' ? registry.tracked.get(task.module) : undefined;
    // A repeated hook run is held back only by the reload of its file.
    if (task.type === 'GlobalHookRun' || task.type === 'ModuleHookRun') {
      yield { for: 'module', text: 'the load of changed files', until: null, ref: null };
      return;
    }
    const isSynchronizing = tracked?.phase === 'wait-for-synchronization' && !tracked.synchronization.isDone;
    yield isSynchronizing
      ? {
          for: 'synchronization',
          text: `the first runs of the hooks of module ${module} with kubernetes bindings`,
          until: null,
          ref: module,
        }
      : { for: 'module', text: `another task of module ${module}`, until: null, ref: module };
    // The queue counts a task as running while its hook still waits for the rate limit.
  } else if (status.type === 'running' && 'hook' in task && task.hook.hook.config.settings.rateLimit) {
    const isRunning = execution.running.all.some(
      ({ labels }) => labels.queue === name && labels.hook === task.hook.hook.name,
    );
    if (!isRunning)
      yield { for: 'rate', text: `the rate limit of hook ${hookOf(task)}`, until: null, ref: null };
  }
}

/** A task for people: its type and what it is about. */
export function titleOf(task: Task): string {
  const subject = [moduleOf(task), hookOf(task)].filter((name) => name !== '');
  return subject.length === 0 ? task.type : `${task.type} ${subject.join('/')}`;
}
