import type { Clock } from '@addon-operator/base/clock';
import { codeOf, factsOf, messageOf } from '@addon-operator/base/errors';
import { type Logger, loggerOf } from '@addon-operator/base/log';
import { NO_SPAN, type Span, traceFields } from '@addon-operator/base/trace';
import type { QueueEntry, TaskOutcome } from '@addon-operator/task-queue';
import { bindingNameOf } from '../hooks/binding-context.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunEnd, RunStart } from '../journal/run.ts';
import type { HookRunFollower, ObserveHookRun } from './hook-execution.ts';
import { taskIdOf } from './task-queue-view.ts';
import { type HookRun, hookOf, moduleOf, type Task } from './tasks.ts';

/** What the journal records of an attempt of a task when it begins. */
export function startOfAttempt(queue: string, entry: QueueEntry<Task>): RunStart {
  const { task } = entry;
  return {
    queue,
    taskId: taskIdOf(queue, entry),
    type: task.type,
    module: moduleOf(task),
    hook: hookOf(task),
    binding: 'binding' in task ? task.binding : '',
    trigger: task.trigger,
    eventId: task.eventId ?? '',
    eventMs: task.root?.atMs,
    triggeredBy: task.triggeredBy,
    attempt: entry.failures + 1,
    queuedMs: entry.queuedAtMs,
  };
}

/** What it records when the attempt ends. */
export function endOfAttempt(outcome: TaskOutcome<Task>): RunEnd {
  return outcome.type === 'retry' ? failure(outcome.error) : { result: outcome.type };
}

function failure(error: unknown): RunEnd {
  const code = codeOf(error);
  return { result: code === 'RUN_ABORTED' ? 'aborted' : 'failed', error: messageOf(error), code };
}

/**
 * Records runs of hooks in the journal: as part of the attempt if the hook is what its task runs, else as runs of their
 * own below it.
 */
export function recordHookRun(journal: Journal, clock: Clock): ObserveHookRun {
  return (run, queue, log) => {
    const attempt = isOwnTask(run) ? journal.attemptIn(queue) : undefined;
    const recorded = attempt ?? journal.beginHook(startOfHook(run, queue, clock));
    const span = hookSpan(run, journal.spanIn(queue));
    const own = span.context === undefined ? log : log.child(traceFields(span));
    let outputBytes = 0;
    return {
      span,
      log: withOutput(own, (line) => {
        journal.print(recorded, line);
        if (span.context !== undefined) outputBytes += Buffer.byteLength(line);
      }),
      wrote: (facts) => {
        journal.noteHook(recorded, facts);
        span.set({
          'addon_operator.contexts': facts.contexts,
          'addon_operator.cpu_ms': facts.cpuMs,
          'addon_operator.max_rss_bytes': facts.maxRssBytes,
        });
      },
      end: ({ cause }) => {
        span.set({
          'error.type': codeOf(cause?.error),
          'addon_operator.exit_code': exitCodeOf(run, cause?.error),
          'addon_operator.output_bytes': outputBytes,
        });
        span.end(cause === undefined ? {} : { error: messageOf(cause.error) });
        // The task of a failure that is allowed or not retried here succeeds; the run has failed all the same.
        const isOver = run.allowFailure || isNotYet(cause?.error) || isFinal(cause?.error);
        if (attempt === undefined || (isOver && cause?.isAborted === false))
          journal.end(recorded, endOfHook(cause));
      },
    } satisfies HookRunFollower;
  };
}

/** Begins the span of a run, in that of the attempt; for a request to a webhook, in that of the request. */
function hookSpan(run: HookRun, attempt: Span): Span {
  const parent = attempt.context === undefined ? (run.root?.span ?? NO_SPAN) : attempt;
  if (parent.context === undefined) return NO_SPAN;
  const { hook } = run.hook;
  return parent.child({
    name: `hook run ${hook.name}`,
    attributes: {
      'addon_operator.event.id': run.eventId,
      'addon_operator.module': moduleNameOf(hook) || undefined,
      'addon_operator.hook': hook.name,
      'addon_operator.binding': run.binding,
      'addon_operator.binding.name': run.reasons[0] === undefined ? undefined : bindingNameOf(run.reasons[0]),
      'addon_operator.transport': hook.transport,
    },
    links: run.merged ?? [],
  });
}

/** Of an executable that has ended by itself. */
function exitCodeOf({ hook }: HookRun, error: unknown): number | undefined {
  if (hook.hook.transport !== 'executable') return undefined;
  if (error === undefined) return 0;
  const { exitCode } = factsOf(error);
  return typeof exitCode === 'number' ? exitCode : undefined;
}

/** Whether the run is what a task is for: those for requests to webhooks have no queue. */
function isOwnTask({ repeatedBy }: HookRun): boolean {
  return repeatedBy === undefined;
}

function startOfHook(run: HookRun, queue: string, clock: Clock): RunStart {
  const { hook } = run.hook;
  return {
    queue,
    taskId: '',
    type: 'HookRun',
    module: moduleNameOf(hook),
    hook: hook.name,
    binding: run.binding,
    trigger: run.trigger,
    eventId: run.eventId ?? '',
    eventMs: run.root?.atMs,
    triggeredBy: run.triggeredBy,
    attempt: 1,
    queuedMs: clock.steadyMs(),
  };
}

function endOfHook(cause: { readonly error: unknown; readonly isAborted: boolean } | undefined): RunEnd {
  if (cause === undefined) return { result: 'success' };
  return cause.isAborted ? { result: 'aborted' } : failure(cause.error);
}

/** The same logger, which also shows what the hook prints: that is logged by a child with the field `output`. */
function withOutput(log: Logger, onLine: (line: string) => void): Logger {
  return loggerOf(
    (level, fields, message) => log[level](fields, message),
    (fields) => {
      const child = log.child(fields);
      if (!('output' in fields)) return child;
      return loggerOf(
        (level, record, message) => {
          child[level](record, message);
          onLine(lineOf(level, record, message));
        },
        (more) => child.child(more),
      );
    },
  );
}

/** What the hook printed, as it was logged: JSON records as their level, message and fields. */
function lineOf(level: string, fields: Readonly<Record<string, unknown>>, message: string): string {
  const { proxyJsonLog, ...rest } = fields;
  if (proxyJsonLog !== true) return message;
  return `${level} ${message}${Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`}`;
}
