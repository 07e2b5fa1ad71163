/** The schema of a run of the journal, which several responses contain; its fields are those of `journal/run-view.ts`. */

import {
  count,
  list,
  number,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';

/** Null for a run that no hook caused. */
export const TRIGGERED_BY = orNull(
  object({ hook: text('Name of the hook.'), binding: text('Kind of its binding.') }),
  'The hook run whose changes led to it.',
);

/** The fields of a run; details and events add others to them. */
export const RUN_PROPERTIES = {
  id: text('A number that grows; it starts at 1 with each start of the operator.'),
  parent: textOrNull('The run that started it; null for an attempt of a task.'),
  eventId: text('The same for all tasks and runs that one event led to.'),
  traceId: text('Name of the trace, whether or not traces are exported: 32 hexadecimal digits.'),
  queue: text('Name of the queue; empty for requests to webhooks.'),
  taskId: text('Id of the task; empty for a hook that a task runs among other things.'),
  type: text('Type of the task, or HookRun.'),
  module: text('Name of the module; empty for a global task.'),
  hook: text('Name of the hook.'),
  binding: text('Kind of the binding of a hook run.'),
  bindings: list(
    text('Name of a binding.'),
    'The bindings that a hook was run for; empty until its run has ended.',
  ),
  trigger: text('What led to it.'),
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
  error: text('Why it failed.'),
  code: text('Code of that error (docs/errors.md).'),
  exitCode: {
    type: ['integer', 'null'],
    description: 'Exit code of an executable hook that ended by itself.',
  },
  signal: text('What killed the hook, such as SIGKILL.'),
  cpuMs: { type: ['number', 'null'], description: 'CPU time of a hook, if it is known.' },
  maxRssBytes: { type: ['number', 'null'], description: 'Most memory of a hook, if it is known.' },
  contexts: count('Binding contexts that a hook was given.'),
  phases: list(
    object({ name: text('Name of the step.'), ms: number('How long it took.') }),
    'Steps of a module run, in order.',
  ),
  patches: object(
    { values: count('Operations on values.'), objects: count('Operations on objects.') },
    'What a hook wrote.',
  ),
  command: text('The command that runs the hook for the same; empty if there is none.'),
  outputLength: count('Characters that the hook printed.'),
};

/** A run in a list. */
export const RUN = object(RUN_PROPERTIES);
