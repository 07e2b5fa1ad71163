// The record of runs in the journal and in traces. The pipeline records attempts of tasks with the
// first two functions; `HookExecution` calls the observer of `recordHookRun` for each hook run. A
// hook that its task runs is part of the attempt; hooks within a module run, a deployment or a
// request have records of their own.

import type { Clock } from '@addon-operator/base/clock';
import { codeOf, messageOf } from '@addon-operator/base/errors';
import { type Logger, loggerOf } from '@addon-operator/base/log';
import { NO_SPAN, type Span, traceFields } from '@addon-operator/base/trace';
import { shellWord } from '@addon-operator/strings/shell-word';
import type { QueueEntry, TaskOutcome } from '@addon-operator/task-queue';
import { isBesideQueues } from '../hook-config/binding-kinds.ts';
import { bindingNameOf } from '../hooks/binding-context.ts';
import { fullName, moduleNameOf } from '../hooks/hook.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunEnd, RunStart } from '../journal/run.ts';
import { sourceFile } from '../model/hook-file.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { type HookRun, hookOf, moduleOf, type Task } from '../model/tasks.ts';
import { taskIdOf } from '../queues/task-queue-view.ts';
import type { HookRunEnd, HookRunFollower, ObserveHookRun } from './hook-execution.ts';

/** The journal's record of an attempt when it begins. */
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

/** The journal's record of an attempt when it ends. */
export function endOfAttempt(outcome: TaskOutcome<Task>): RunEnd {
  return outcome.type === 'retry' ? failure(outcome.error) : { result: outcome.type };
}

/** The record of a failed run. A run that a user aborted is no failure. */
function failure(error: unknown): RunEnd {
  const code = codeOf(error);
  return { result: code === 'RUN_ABORTED' ? 'aborted' : 'failed', error: messageOf(error), code };
}

interface RecordHookRunParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly registry: Pick<ModuleRegistry, 'find'>;
  /** Whether the operator keeps the inputs of failed runs. */
  readonly isKept: boolean;
}

/**
 * Returns the observer that records hook runs in the journal: as part of the attempt if the task
 * runs this hook, else as a run of its own.
 */
export function journalHookRuns({ journal, clock, registry, isKept }: RecordHookRunParts): ObserveHookRun {
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
      end: (end) => {
        const { cause, contexts, patches, exit } = end;
        const { exitCode, signal, usage } = exit;
        const cpuMs = usage && usage.userCpuMs + usage.systemCpuMs;
        const maxRssBytes = usage?.maxRssBytes;
        const bindings = bindingsOf(run);
        const command = commandOf(
          run,
          bindings,
          sourceFile(run.hook.hook, registry),
          isKept && cause !== undefined,
        );
        journal.noteHook(recorded, {
          bindings,
          exitCode,
          signal,
          cpuMs,
          maxRssBytes,
          contexts,
          patches,
          command,
        });
        span.set({
          'error.type': codeOf(cause?.error),
          'addon_operator.contexts': contexts,
          'addon_operator.cpu_ms': cpuMs,
          'addon_operator.max_rss_bytes': maxRssBytes,
          'addon_operator.exit_code': exitCode,
          'addon_operator.output_bytes': outputBytes,
        });
        span.end(cause === undefined ? {} : { error: messageOf(cause.error) });
        // The task of an allowed or final failure succeeds, but the run is recorded as failed.
        const isOver = run.allowFailure || isNotYet(cause?.error) || isFinal(cause?.error);
        if (attempt === undefined || (isOver && cause?.isAborted === false))
          journal.end(recorded, endOfHook(cause));
      },
    } satisfies HookRunFollower;
  };
}

/** Begins the span of a run: below the attempt, or below the request to a webhook. */
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

function bindingsOf({ reasons }: HookRun): readonly string[] {
  return [...new Set(reasons.map(bindingNameOf))];
}

/**
 * The command that repeats the run on a machine with the hook file.
 *
 * @param isRecorded the operator has kept its input
 */
function commandOf(
  { hook: { hook }, reasons }: HookRun,
  [binding = '']: readonly string[],
  file: string,
  isRecorded: boolean,
): string {
  const path = shellWord(file);
  if (isRecorded)
    return `addon-operator hook record --failed ${shellWord(fullName(hook))} && addon-operator hook replay --hook ${path}`;
  // Their requests and facts are not at hand for `hook run`.
  if (isBesideQueues(reasons)) return '';
  return `addon-operator hook run ${path} --binding ${shellWord(binding)}`;
}

/**
 * Whether the task runs this hook; hooks of module runs, and of requests, are repeated by something
 * else.
 */
function isOwnTask({ repeatedBy }: HookRun): boolean {
  return repeatedBy === undefined;
}

/** The record of a hook run that is no task of its own, when it begins. */
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

/** The record of a hook run when it ends. A stop of the daemon aborts it. */
function endOfHook(cause: { readonly error: unknown; readonly isAborted: boolean } | undefined): RunEnd {
  if (cause === undefined) return { result: 'success' };
  return cause.isAborted ? { result: 'aborted' } : failure(cause.error);
}

/**
 * Wraps the logger to also pass on each line of the hook: its child with the field `output` logs
 * them.
 */
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

/** A line of the hook as it was logged: JSON records as level, message and fields. */
function lineOf(level: string, fields: Readonly<Record<string, unknown>>, message: string): string {
  const { proxyJsonLog, ...rest } = fields;
  if (proxyJsonLog !== true) return message;
  return `${level} ${message}${Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`}`;
}

/**
 * Records the result of a hook run with its module, in place of the previous one for the same
 * binding.
 */
export function noteHookRun(
  registry: ModuleRegistry,
  { run, startedAtMs, durationMs, error }: HookRunEnd,
): void {
  const { name: hook } = run.hook.hook;
  const tracked = stateFor(registry, run);
  if (tracked === undefined) return;
  const { binding } = run;
  tracked.history.noteHookRun({ hook, binding, startedAtMs, durationMs: Math.round(durationMs), error });
}

/** The module that the hook belongs to, or whose deployment a deploy hook observes. */
function stateFor({ tracked }: ModuleRegistry, { hook: { hook }, reasons: [reason] }: HookRun) {
  if (hook.owner.type === 'module') return tracked.get(hook.owner.module);
  if (reason?.type !== 'deploy') return undefined;
  return [...tracked.values()].find(({ module }) => module.name === reason.facts.module.name);
}
