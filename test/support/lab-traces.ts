import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import type { Tracer } from '@addon-operator/base/trace';
import { Redactor } from '@addon-operator/masking/redactor';
import type { TaskQueueOptions } from '@addon-operator/task-queue';
import { eventIds, withOrigin } from '../../src/model/task-origin.ts';
import type { Task } from '../../src/model/tasks.ts';
import { eventFactsOf, TaskTraces } from '../../src/queues/task-traces.ts';
import { Recorder } from '../../src/recordings/recorder.ts';

/** Of the operator in the lab. */
export const BOOT_ID = 'lab';

/** The traces of a lab, and what its queues need for them: without a tracer other tests see tasks as they were queued. */
export function labTraces(
  clock: SteadyClock,
  tracer: Tracer | undefined,
): { readonly traces: TaskTraces; readonly admission: Pick<TaskQueueOptions<Task>, 'admit'> } {
  const newEventId = eventIds(() => 0);
  if (tracer === undefined)
    return { traces: new TaskTraces({ clock, bootId: BOOT_ID, newEventId }), admission: {} };
  const traces = new TaskTraces({ clock, bootId: BOOT_ID, newEventId, tracer });
  const admit = (tasks: readonly Task[], follows: Task | undefined): readonly Task[] =>
    withOrigin(tasks, follows, (task) => traces.newEvent(() => eventFactsOf(task)));
  return { traces, admission: { admit } };
}

/** Records runs of hooks without secrets. */
export function labRecorder(clock: Clock): Recorder {
  return new Recorder({ clock, version: '0.0.0', redactor: new Redactor() });
}
