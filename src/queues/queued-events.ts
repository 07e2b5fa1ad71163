import type { TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import type { EventBacklog, EventHolder, WaitingEvent } from '../hooks/event-backlog.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import type { Task } from '../model/tasks.ts';

/** The queues as a holder of events: the backlog lists them and drops events over its limit. */
export function queuedEvents(queues: Pick<QueueSet<Task>, 'all'>): EventHolder {
  return {
    rows: () => queues.all.map(rowOf),
    drop: (events) => {
      for (const queue of queues.all) queue.rewrite((task) => withoutEvents(task, events));
    },
  };
}

/**
 * Reports the bytes of events in tasks that leave and enter queues, including those of running
 * tasks.
 */
export function countQueuedEvents(
  backlog: Pick<EventBacklog, 'bytesOf' | 'change'>,
): (left: readonly Task[], came: readonly Task[]) => void {
  // The key is the list of reasons: a queued task is a copy of the one that was passed in.
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

/** The task without some events; undefined if it has no reasons left. */
export function withoutEvents<T extends Task>(task: T, events: ReadonlySet<KubernetesEvent>): T | undefined {
  if (!('reasons' in task)) return task;
  const reasons = task.reasons.filter((reason) => reason.type !== 'event' || !events.has(reason.event));
  if (reasons.length === task.reasons.length) return task;
  return reasons.length === 0 ? undefined : { ...task, reasons };
}
