import type { TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import type { EventBacklog, EventHolder, WaitingEvent } from '../hooks/event-backlog.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import type { Task } from '../model/tasks.ts';

/** The events in the queues. */
export function queuedEvents(queues: Pick<QueueSet<Task>, 'all'>): EventHolder {
  return {
    rows: () => queues.all.map(rowOf),
    drop: (events) => {
      for (const queue of queues.all) queue.rewrite((task) => withoutEvents(task, events));
    },
  };
}

/** Counts the events in the tasks that leave queues and come into them, those of a run in progress included. */
export function countQueuedEvents(
  backlog: Pick<EventBacklog, 'bytesOf' | 'change'>,
): (left: readonly Task[], came: readonly Task[]) => void {
  // By their list: a task that is queued is a copy of the one that was to be queued.
  const known = new WeakMap<object, number>();
  const bytesOf = (task: Task): number => {
    if (!('reasons' in task)) return 0;
    const bytes = known.get(task.reasons) ?? backlog.bytesOf(eventsOf(task).map(({ event }) => event));
    known.set(task.reasons, bytes);
    return bytes;
  };
  const sumOf = (tasks: readonly Task[]): number => tasks.reduce((sum, task) => sum + bytesOf(task), 0);
  return (left, came) => backlog.change(sumOf(came) - sumOf(left));
}

function rowOf(queue: TaskQueue<Task>): readonly WaitingEvent[] {
  return queue.entries
    .filter((entry) => !queue.isRunning(entry))
    .flatMap(({ task }) => ('reasons' in task ? eventsOf(task) : []));
}

/** The events that a run is for. */
export function eventsOf({
  hook: { hook },
  reasons,
}: Extract<Task, { readonly reasons: unknown }>): readonly WaitingEvent[] {
  return reasons.flatMap((reason) =>
    reason.type === 'event'
      ? [{ event: reason.event, binding: reason.binding, module: moduleNameOf(hook), hook: hook.name }]
      : [],
  );
}

/** The task without some events; undefined if nothing is left of it. */
export function withoutEvents<T extends Task>(task: T, events: ReadonlySet<KubernetesEvent>): T | undefined {
  if (!('reasons' in task)) return task;
  const reasons = task.reasons.filter((reason) => reason.type !== 'event' || !events.has(reason.event));
  if (reasons.length === task.reasons.length) return task;
  return reasons.length === 0 ? undefined : { ...task, reasons };
}
