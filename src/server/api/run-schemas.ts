/** The schema of a run of the journal, which several responses contain; its fields are those of `journal/run-view.ts`. */

import {
  count,
  flag,
  list,
  number,
  object,
  oneOf,
  orNull,
  string,
  stringOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';

/** Null for a run that no hook caused. */
export const TRIGGERED_BY = orNull(
  object({ hook: string('Name of the hook.'), binding: string('Kind of its binding.') }),
  'The hook run whose changes led to it.',
);

/** The fields of a run; details and events add others to them. */
export const RUN_PROPERTIES = {
  id: string(
    'A number that grows; a start of the operator continues with it, unless the file of the journal is lost.',
  ),
  isOfEarlierStart: flag('It ended before the last start of the operator.'),
  parent: stringOrNull('The run that started it; null for an attempt of a task.'),
  eventId: string('The same for all tasks and runs that one event led to.'),
  traceId: string('Name of the trace, whether or not traces are exported: 32 hexadecimal digits.'),
  queue: string('Name of the queue; empty for requests to webhooks.'),
  taskId: string('Id of the task; empty for a hook that a task runs among other things.'),
  type: string('Type of the task, or HookRun.'),
  module: string('Name of the module; empty for a global task.'),
  hook: string('Name of the hook.'),
  binding: string('Kind of the binding of a hook run.'),
  bindings: list(
    string('Name of a binding.'),
    'The bindings that a hook was run for; empty until its run has ended.',
  ),
  trigger: string('What led to it.'),
  triggeredBy: TRIGGERED_BY,
  attempt: { type: 'integer', minimum: 1, description: 'Number of the attempt.' },
  queuedAt: time('When it began to wait.'),
  startedAt: time('When it began.'),
  endedAt: timeOrNull('When it ended; null while it runs.'),
  waitMs: number('How long it waited.'),
  durationMs: number('How long it ran, until now if it still does.'),
  result: oneOf(
    ['success', 'failed', 'repeat', 'skipped', 'aborted', 'running'],
    'How it ended; skipped: nothing was done, as for a paused module.',
  ),
  error: string('Why it failed.'),
  code: string('Code of that error (docs/errors.md).'),
  exitCode: {
    type: ['integer', 'null'],
    description: 'Exit code of an executable hook that ended by itself.',
  },
  signal: string('What killed the hook, such as SIGKILL.'),
  cpuMs: { type: ['number', 'null'], description: 'CPU time of a hook, if it is known.' },
  maxRssBytes: { type: ['number', 'null'], description: 'Most memory of a hook, if it is known.' },
  contexts: count('Binding contexts that a hook was given.'),
  phases: list(
    object({ name: string('Name of the step.'), ms: number('How long it took.') }),
    'Steps of a module run, in order.',
  ),
  patches: object(
    { values: count('Operations on values.'), objects: count('Operations on objects.') },
    'What a hook wrote.',
  ),
  command: string('The command that runs the hook for the same; empty if there is none.'),
  outputLength: count('Characters that the hook printed.'),
};

/** A run in a list. */
export const RUN = object(RUN_PROPERTIES);
