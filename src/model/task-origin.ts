import type { LogFields } from '@addon-operator/base/log';
import { bindingNameOf } from '../hooks/binding-context.ts';
import type { HookRun, Task, TaskOrigin } from './tasks.ts';

/**
 * Returns unique identifiers made of eight random hex digits and a counter; `random` is in [0, 1).
 * The digits differ between daemons, so that log records of two instances cannot be mixed up.
 */
export function eventIds(random: () => number): () => string {
  const start = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
  let last = 0;
  return () => {
    last += 1;
    return `${start}-${last}`;
  };
}

/**
 * Gives tasks that are queued together their origin: the one they have, else that of the task they
 * follow, else one new event for all of them.
 */
export function withOrigin(
  tasks: readonly Task[],
  follows: Task | undefined,
  newEvent: (task: Task) => TaskOrigin,
): readonly Task[] {
  let own: TaskOrigin | undefined;
  return tasks.map((task) => {
    if (task.eventId !== undefined) return task;
    own ??= follows?.eventId === undefined ? { ...originOf(follows), ...newEvent(task) } : originOf(follows);
    return { ...own, ...task };
  });
}

/** The origin of a task, for a task that it requests. */
export function originOf(task: TaskOrigin | undefined): TaskOrigin {
  const { eventId, root, triggeredBy } = task ?? {};
  return {
    ...(eventId !== undefined && { eventId }),
    ...(root !== undefined && { root }),
    ...(triggeredBy !== undefined && { triggeredBy }),
  };
}

/** The origin of tasks that the changes of a hook run lead to. */
export function causedBy(run: HookRun): TaskOrigin {
  const [reason] = run.reasons;
  return {
    ...originOf(run),
    triggeredBy: {
      hook: run.hook.hook.name,
      binding: run.binding,
      bindingName: reason === undefined ? run.binding : bindingNameOf(reason),
      ...(reason?.type === 'event' && { watchEvent: reason.event.watchEvent }),
    },
  };
}

/** The origin of a task as log records show it. */
export function originFields({ eventId, triggeredBy }: TaskOrigin): LogFields {
  return {
    ...(eventId !== undefined && { 'event.id': eventId }),
    ...(triggeredBy !== undefined && {
      'event.triggered-by.hook': triggeredBy.hook,
      'event.triggered-by.binding': triggeredBy.binding,
      'event.triggered-by.binding.name': triggeredBy.bindingName,
      ...(triggeredBy.watchEvent !== undefined && {
        'event.triggered-by.watchEvent': triggeredBy.watchEvent,
      }),
    }),
  };
}
