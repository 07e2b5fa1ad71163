import { errorFields, messageOf } from '@addon-operator/base/errors';
import { NO_SPAN, traceFields } from '@addon-operator/base/trace';
import type { Redactor } from '@addon-operator/masking/redactor';
import { redactedError } from '@addon-operator/masking/redactor';
import type { QueueEntry, TaskHandler, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { endOfAttempt, startOfAttempt } from '../hook-runs/record-runs.ts';
import { outcomeOfRestart } from '../hook-runs/restart-hooks.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { Journal } from '../journal/journal.ts';
import type { Model } from '../model/model.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import type { RunAborts } from '../model/run-aborts.ts';
import type { Telemetry } from '../model/services.ts';
import { hookOf, moduleLabelOf, moduleOf, type Task } from '../model/tasks.ts';
import {
  type IsolationParts,
  isolate,
  logIfRecovered,
  requeueUnblocked,
  rerouteToModuleQueue,
} from '../queues/isolation.ts';
import { type ParallelModuleRunParts, reportToGroup } from '../queues/parallel-module-run.ts';
import { endMessage, eventFields, flowFields, stageOfTask, startMessage } from '../queues/task-log.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { Reconcile } from '../reconcile/create-reconcile.ts';
import { actingOn, deferIfAway, type HandOverTasksParts } from '../requests/hand-over-tasks.ts';
import { deferIfPaused, endHoldOfOldFiles, type PauseTasksParts } from '../requests/pause-tasks.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { createDispatch, type DispatchParts } from './dispatch.ts';

/** One attempt of a task. */
export interface Attempt {
  readonly entry: QueueEntry<Task>;
  readonly queue: TaskQueue<Task>;
  readonly signal: AbortSignal;
}

type Outcome = TaskOutcome<Task>;

/** The following stages. */
type Next = (attempt: Attempt) => Promise<Outcome>;

/** A stage of every attempt: returns an outcome of its own, or calls the following stages. */
export type Stage = (attempt: Attempt, next: Next) => Promise<Outcome>;

/** The parts of all stages. */
export interface TaskHandlerParts extends DispatchParts {
  /** The Module objects, which show each attempt; undefined where the settings switch them off. */
  readonly objects?: Pick<ModuleObjects, 'changed'> | undefined;
  /** Masks the content of Secrets in errors; default: nothing is masked. */
  readonly redactor?: Pick<Redactor, 'text'>;
}

/**
 * Runs one attempt of any task: the queues call it with the head of a queue, and its outcome
 * decides whether the task is done, retried or repeated. The stages are listed below from the
 * outside to the inside; each may skip the rest. A task that throws is logged once, here, and
 * retried; only a stop of the daemon passes through as an exception.
 */
export function taskHandler(parts: TaskHandlerParts): TaskHandler<Task> {
  const { model, queueing, telemetry, reconcile, crds, releases, objects } = parts;
  const { redactor = { text: (text) => text } } = parts;
  const { registry, converge, policy, pauses, handOvers, aborts } = model;
  const { queues, router, traces } = queueing;
  const { clock, log, metrics, journal } = telemetry;
  // The order matters: what changes the queue comes before the journal, what skips comes before the
  // log of an attempt, and the lock is taken only by attempts that run.
  const run = inOrder([
    notify(objects),
    rerouteIsolated({ registry, router, log, metrics, queues, policy }),
    record({ journal, traces }),
    redact(redactor),
    logFailure({ log, journal }),
    authorize({ reconcile, journal }),
    handOver({ registry, converge, log, handOvers, journal }),
    pause({ registry, converge, router, log, queues, releases, crds, pauses, journal }),
    logAttempt({ clock, journal, log, metrics, registry }),
    lock(),
    abort({ aborts }),
    dispatch(createDispatch(parts)),
  ]);
  return (entry, queue, signal) => run({ entry, queue, signal });
}

/** Nests the stages: each gets the rest as `next`. */
function inOrder(stages: readonly Stage[]): Next {
  const unhandled: Next = ({ entry }) => Promise.reject(new Error(`no stage handles ${entry.task.type}`));
  return stages.reduceRight<Next>((next, stage) => (attempt) => stage(attempt, next), unhandled);
}

interface SkippingParts {
  readonly journal: Journal;
}

const SUCCESS: Outcome = { type: 'success' };

/**
 * Updates the Module objects at the begin and the end of an attempt, since they show what is
 * running.
 */
export function notify(objects: Pick<ModuleObjects, 'changed'> | undefined): Stage {
  if (objects === undefined) return (attempt, next) => next(attempt);
  return async (attempt, next) => {
    objects.changed();
    try {
      return await next(attempt);
    } finally {
      objects.changed();
    }
  };
}

/**
 * Moves a task of an isolated module to the module's queue, and isolates a module whose task fails.
 * It comes before the record, because a moved task has had no attempt. Members of a group report
 * their outcome to it.
 */
export function rerouteIsolated(
  operator: IsolationParts &
    ParallelModuleRunParts & { readonly policy: Pick<OperatorPolicy, 'failurePolicy'> },
): Stage {
  return async (attempt, next) => {
    const { entry, queue } = attempt;
    if (rerouteToModuleQueue(operator, entry.task, queue)) {
      // For its group an isolated member is done: the others must not wait for it.
      reportOutcome(operator, entry.task, SUCCESS);
      return SUCCESS;
    }
    // Before each attempt, since the module that blocked this queue may have recovered.
    requeueUnblocked(operator, entry, queue);
    const outcome = await next(attempt);
    const isMoved =
      outcome.type === 'retry' &&
      operator.policy.failurePolicy === 'isolate' &&
      isolate(operator, entry, queue, outcome);
    reportOutcome(operator, entry.task, isMoved ? SUCCESS : outcome);
    if (isOver(outcome)) logIfRecovered(operator, entry, queue);
    return isMoved ? SUCCESS : outcome;
  };
}

/** Records the attempt in the journal. An exception means that the daemon is stopping. */
export function record({
  journal,
  traces,
}: SkippingParts & { readonly traces: Pick<TaskTraces, 'beginAttempt'> }): Stage {
  return async (attempt, next) => {
    const { entry, queue } = attempt;
    const run = journal.begin(startOfAttempt(queue.name, entry));
    traces.beginAttempt(journal, run, entry, queue.name);
    try {
      const outcome = await next(attempt);
      journal.end(run, endOfAttempt(outcome));
      return outcome;
    } catch (error) {
      journal.end(run, { result: 'aborted' });
      throw error;
    }
  };
}

/** Reports the result of a run to its group. */
function reportOutcome(operator: ParallelModuleRunParts, task: Task, outcome: Outcome): void {
  if (task.type !== 'ModuleRun') return;
  if (outcome.type === 'retry') reportToGroup(operator, task, messageOf(outcome.error));
  if (isOver(outcome)) reportToGroup(operator, task, undefined);
}

/** Whether the task is finished; one with a following task is not. */
function isOver(outcome: Outcome): boolean {
  return outcome.type === 'success' && outcome.after === undefined;
}

/** Masks the content of Secrets in the error, which queues and commands show. */
export function redact(redactor: Pick<Redactor, 'text'>): Stage {
  return async (attempt, next) => {
    const outcome = await next(attempt);
    return outcome.type === 'retry' ? { ...outcome, error: redactedError(outcome.error, redactor) } : outcome;
  };
}

/**
 * Logs the error of later stages, and turns it into a retry. An attempt that the daemon ends is not
 * a failure.
 */
export function logFailure({ log, journal }: Pick<Telemetry, 'journal' | 'log'>): Stage {
  return async (attempt, next) => {
    const { entry, queue, signal } = attempt;
    try {
      return await next(attempt);
    } catch (error) {
      rethrowAbort(error, signal);
      const fields = {
        queue: queue.name,
        module: moduleOf(entry.task),
        hook: hookOf(entry.task),
        ...errorFields(error),
        ...eventFields(entry.task),
        ...traceFields(journal.spanIn(queue.name)),
      };
      if (entry.task.type === 'GlobalHookRun')
        log.error(fields, 'Global hook failed, requeue task to retry after delay.');
      else if (entry.task.type === 'ModuleHookRun')
        log.error(fields, 'Module hook failed, requeue task to retry after delay.');
      else log.error({ ...fields, task: entry.task.type }, 'Task failed, requeue it to retry after delay.');
      return { type: 'retry', error };
    }
  };
}

/**
 * Ends an attempt without any effect: it counts neither as a success nor as a failure of its
 * module.
 */
function skipped({ journal }: SkippingParts, { queue }: Attempt): Outcome {
  const run = journal.attemptIn(queue.name);
  if (run !== undefined) journal.end(run, { result: 'skipped' });
  return SUCCESS;
}

/** Skips tasks of modules that must not run, also their deletion. */
export function authorize({
  reconcile,
  journal,
}: SkippingParts & { readonly reconcile: Pick<Reconcile, 'skipsTask'> }): Stage {
  return async (attempt, next) =>
    reconcile.skipsTask(attempt.entry.task) ? skipped({ journal }, attempt) : await next(attempt);
}

/**
 * Skips tasks of modules that are handed over. A hand-over waits for running attempts of the
 * module.
 */
export function handOver(operator: HandOverTasksParts & SkippingParts): Stage {
  return async (attempt, next) => {
    const { task } = attempt.entry;
    if (deferIfAway(operator, task)) return skipped(operator, attempt);
    const target = actingOn(task);
    if (target === undefined) return await next(attempt);
    return await operator.handOvers.during(target, () => next(attempt));
  };
}

/** Skips runs of paused modules; they are queued again when the module is resumed. */
export function pause(operator: PauseTasksParts & SkippingParts): Stage {
  return async (attempt, next) => {
    const { entry, signal } = attempt;
    await endHoldOfOldFiles(operator, entry.task, signal);
    return deferIfPaused(operator, entry.task) ? skipped(operator, attempt) : await next(attempt);
  };
}

/** Logs the begin and the end of an attempt, and measures how long the task has waited. */
export function logAttempt({
  clock,
  journal,
  log,
  metrics,
  registry,
}: Telemetry & Pick<Model, 'registry'>): Stage {
  return async (attempt, next) => {
    const { entry, queue } = attempt;
    const { task } = entry;
    // Hook runs measure their wait themselves: they may wait for the rate limit first.
    if (task.type !== 'GlobalHookRun' && task.type !== 'ModuleHookRun') {
      const labels = {
        module: moduleLabelOf(task),
        hook: hookOf(task),
        binding: task.type,
        queue: queue.name,
      };
      metrics.taskWait(labels, (clock.steadyMs() - entry.queuedAtMs) / 1_000);
    }
    const trace = traceFields(journal.attemptIn(queue.name)?.spans?.run ?? NO_SPAN);
    log.info(
      { ...flowFields(entry, queue.name, 'start'), ...trace },
      startMessage(task, stageOfTask(registry, task)),
    );
    const outcome = await next(attempt);
    const level = task.type === 'ConvergeModules' ? 'info' : 'debug';
    log[level]({ ...flowFields(entry, queue.name, 'end'), ...trace }, endMessage(task, outcome.type));
    return outcome;
  };
}

/**
 * Lets one task at a time change the release and the state of a module, across queues. Another task
 * is repeated when the lock is released, so it does not occupy its queue with a waiting attempt.
 */
export function lock(): Stage {
  const locked = new Map<string, Promise<void>>();
  return async (attempt, next) => {
    const modules = lockedBy(attempt.entry.task);
    const holder = modules.map((module) => locked.get(module)).find((held) => held !== undefined);
    if (holder !== undefined) return { type: 'repeat', when: holder };
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const module of modules) locked.set(module, promise);
    try {
      return await next(attempt);
    } finally {
      for (const module of modules) locked.delete(module);
      resolve();
    }
  };
}

/** The modules that no other task may change in the meantime. A run sees the files of one version only. */
function lockedBy(task: Task): readonly string[] {
  if (task.type === 'ModuleRun' || task.type === 'ModuleDelete' || task.type === 'ModuleEnsureCRDs')
    return [task.module];
  return task.type === 'ReloadFiles' ? [...(task.modules ?? [])] : [];
}

/**
 * Lets users abort a run of a module or of its hooks, and lets changed files restart a hook run.
 */
export function abort({ aborts }: { readonly aborts: Pick<RunAborts, 'run'> }): Stage {
  return async (attempt, next) => {
    try {
      return await aborts.run(attempt.entry.task, attempt.signal, (signal) => next({ ...attempt, signal }));
    } catch (error) {
      const restart = outcomeOfRestart(error);
      if (restart === undefined || attempt.signal.aborted) throw error;
      return restart;
    }
  };
}

/** Calls the handler of the task; it is the last stage. */
export function dispatch(handle: TaskHandler<Task>): Stage {
  return ({ entry, queue, signal }) => handle(entry, queue, signal);
}
