import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { kindFactsOf } from '../hook-config/binding-kinds.ts';
import { mayShareRun } from '../hooks/binding-context.ts';
import { coalesceEvents } from '../hooks/coalesce-events.ts';
import { coalesces, moduleNameOf } from '../hooks/hook.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { isProbe } from '../model/probe-readiness.ts';
import type { HookTask, Task } from '../model/tasks.ts';
import { bindingName, eventFields, hookFields } from '../queues/task-log.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { HookEffects } from './apply-outputs.ts';
import { finishSynchronization } from './finish-synchronization.ts';
import type { HookExecution } from './hook-execution.ts';
import { hookLabels } from './hook-labels.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import { isDroppedOnPurpose } from './retry-budgets.ts';
import { giveUp, postpone } from './unfinished-run.ts';

/** The parts that every hook task uses. */
export interface HookRunParts {
  readonly router: TaskRouter;
  readonly registry: Pick<ModuleRegistry, 'discovery'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly execution: Pick<HookExecution, 'run'>;
}

/** Limits the links of a span to the events of a combined run. */
const MAX_LINKS = 100;

export type HookTaskOutcome =
  /** The hook did not have to run: it was stopped, or does not want this Synchronization. */
  | { readonly type: 'skipped' }
  /** `rest` holds the reasons that did not fit into the run; it is the next task. */
  | {
      readonly type: 'ran';
      readonly task: HookTask;
      readonly effects: HookEffects;
      readonly rest: HookTask | undefined;
    }
  | { readonly type: 'allowed-failure'; readonly rest: HookTask | undefined }
  /** The hook asked to run later, or a retry is pointless. */
  | { readonly type: 'unfinished'; readonly outcome: TaskOutcome<Task> };

/**
 * One attempt of a hook task, called by the handlers of module and global hooks. Waits for the rate
 * limit, combines the task with following tasks of the same hook, drops events that newer ones
 * replace, runs the hook, and then releases the events of synchronized bindings. A failure that is
 * not allowed is thrown, and the queue retries the task; reasons that did not fit into the run come
 * back as the next task.
 */
export async function runHookTask(
  operator: HookRunParts,
  entry: QueueEntry<Task>,
  first: HookTask,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<HookTaskOutcome> {
  const runtime = first.hook;
  // The runtime may be stopped during each wait below, so it is checked after each of them.
  if (runtime.isStopped) return { type: 'skipped' };
  await runtime.waitForTurn(signal);
  if (runtime.isStopped) return { type: 'skipped' };
  if (isUnwantedSynchronization(first)) {
    finishSynchronization(operator, first);
    return { type: 'skipped' };
  }
  // Combined twice: `gather` waits for further events only if there are several, and they join
  // afterwards.
  const waiting = combine(entry, first, queue);
  await runtime.gather(waiting.reasons.length, signal);
  if (runtime.isStopped) return { type: 'skipped' };
  const task = coalesce(entry, combine(entry, waiting, queue), queue);
  if (task.reasons.length === 0) return { type: 'skipped' };
  const log = taskLogger(operator.log, task, queue.name);
  const labels = hookLabels(task, queue.name);
  const { metrics, execution, clock } = operator;
  metrics.taskWait(
    {
      module: moduleNameOf(task.hook.hook),
      hook: labels.hook,
      binding: bindingName(task),
      queue: labels.queue,
    },
    // Measured from the time the task was queued, so it includes the rate limit and the gathering.
    (clock.steadyMs() - entry.queuedAtMs) / 1_000,
  );
  let covered = task.reasons.length;
  try {
    const effects = await execution.run(task, queue.name, log, signal, (count) => {
      covered = count;
    });
    metrics.hookResult(labels, 'success');
    const { ran, rest } = splitAt(task, covered);
    // A run that was full does not count as the end of a burst: the rest follows without waiting.
    if (rest === undefined && ran.reasons.some(({ type }) => type === 'event')) runtime.noteEventRun();
    finishSynchronization(operator, ran);
    return { type: 'ran', task: ran, effects, rest };
  } catch (error) {
    // The order matters: a stop is no failure, `retryAfter` is no error, and only then limits and
    // permissions count.
    rethrowAbort(error, signal);
    if (isNotYet(error)) return { type: 'unfinished', outcome: postpone(operator, task, queue, error, log) };
    const { ran, rest } = splitAt(task, covered);
    if (!isDroppedOnPurpose(task, error)) {
      metrics.hookResult(labels, 'error');
      if (!isFinal(error)) throw error;
      return { type: 'unfinished', outcome: withRest(giveUp(operator, ran, error, log), rest) };
    }
    metrics.hookResult(labels, 'allowed-error');
    // A failing probe runs often; changes of its report are logged elsewhere.
    if (task.allowFailure)
      log[isProbe(task.hook.hook) ? 'debug' : 'info'](
        errorFields(error),
        'hook failed, but the failure is allowed',
      );
    else log.warn(errorFields(error), 'hook failed, its retries are used up: the run is dropped');
    finishSynchronization(operator, ran);
    return { type: 'allowed-failure', rest };
  }
}

/** The outcome of a finished run; the reasons that did not fit are the next task. */
export function doneWith(outcome: HookTaskOutcome): TaskOutcome<Task> {
  switch (outcome.type) {
    case 'skipped':
      return { type: 'success' };
    case 'unfinished':
      return outcome.outcome;
    case 'ran':
    case 'allowed-failure':
      return withRest({ type: 'success' }, outcome.rest);
  }
}

/** Adds the reasons that did not fit as the next task. */
function withRest(outcome: TaskOutcome<Task>, rest: HookTask | undefined): TaskOutcome<Task> {
  return outcome.type === 'success' && rest !== undefined ? { type: 'success', after: [rest] } : outcome;
}

/** Splits a task into the reasons that the hook was given and the rest. */
function splitAt(task: HookTask, covered: number): { ran: HookTask; rest: HookTask | undefined } {
  // A run that failed before it read any context is finished as a whole.
  if (covered === 0 || covered >= task.reasons.length) return { ran: task, rest: undefined };
  const { reasons } = task;
  const { attempted: _attempted, ...unattempted } = task;
  return {
    ran: { ...task, reasons: reasons.slice(0, covered) },
    rest: { ...unattempted, reasons: reasons.slice(covered) },
  };
}

/** The logger of one hook run: all its records have the labels of the task. */
export function taskLogger(log: Logger, task: HookTask, queue: string): Logger {
  return log.child({
    logger: 'addon-operator.hooks',
    ...hookFields(task),
    path: task.hook.hook.path,
    queue,
    ...eventFields(task),
  });
}

/**
 * Takes directly following tasks of the same hook into this one. Only runs for events and schedules
 * may be combined.
 */
function combine(entry: QueueEntry<Task>, first: HookTask, queue: TaskQueue<Task>): HookTask {
  if (!kindFactsOf(first.binding).isCombined) return first;
  // Hooks of the old format are given one context a run.
  if (first.hook.hook.config.version === 'v0') return first;
  let last = first;
  const following = queue.takeFollowing(entry, (other) => {
    if (other.type !== first.type || other.hook !== first.hook || !mayCombine(last, other)) return false;
    last = other;
    return true;
  }) as readonly HookTask[];
  if (following.length === 0) return first;
  const reasons = [...first.reasons, ...following.flatMap((other) => other.reasons)];
  const events = following.flatMap((other) => other.root?.span.context ?? []);
  const merged = events.length === 0 ? first.merged : [...(first.merged ?? []), ...events].slice(-MAX_LINKS);
  const task = { ...first, reasons, ...(merged !== undefined && { merged }) };
  // The combined task replaces the first in the queue, so that a retry has all its reasons.
  queue.replaceTask(entry, task);
  return task;
}

/** Drops events that a newer event of the same object replaces. */
function coalesce(entry: QueueEntry<Task>, task: HookTask, queue: TaskQueue<Task>): HookTask {
  if (!coalesces(task.hook.hook)) return task;
  // Events of an earlier attempt are not merged with later ones: the hook may have handled some of
  // them.
  const reasons = coalesceEvents(task.reasons, task.attempted);
  const next = { ...task, reasons, attempted: reasons.length };
  queue.replaceTask(entry, next);
  return next;
}

/** Whether a task may join the run of the previous one. */
function mayCombine(previous: HookTask, next: HookTask): boolean {
  if (!kindFactsOf(next.binding).isCombined) return false;
  // A failure is allowed or not for all contexts of a run: one that is allowed would drop the others with it.
  if (isUnwantedSynchronization(next) || next.allowFailure !== previous.allowFailure) return false;
  const [a, b] = [previous.reasons.at(-1), next.reasons[0]];
  return a !== undefined && b !== undefined && mayShareRun(a, b);
}

/** Whether all bindings of the run have switched their Synchronization off. */
function isUnwantedSynchronization(task: HookTask): boolean {
  return task.reasons.every(
    (reason) => reason.type === 'synchronization' && !reason.binding.executeOnSynchronization,
  );
}
