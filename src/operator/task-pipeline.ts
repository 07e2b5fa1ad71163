import { errorFields, messageOf } from '@addon-operator/base/errors';
import { NO_SPAN, traceFields } from '@addon-operator/base/trace';
import type { Redactor } from '@addon-operator/masking/redactor';
import { redactedError } from '@addon-operator/masking/redactor';
import type { QueueEntry, TaskHandler, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import {
  handleEnableKubernetes,
  handleEnableSchedules,
  handleWaitSynchronization,
} from '../hook-runs/enable-global-hook.ts';
import { handleGlobalHookRun } from '../hook-runs/global-hook-run.ts';
import { handleModuleHookRun } from '../hook-runs/module-hook-run.ts';
import { endOfAttempt, startOfAttempt } from '../hook-runs/record-runs.ts';
import { outcomeOfRestart } from '../hook-runs/restart-hooks.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import { Synchronizations } from '../hook-runs/synchronizations.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import type { RunAborts } from '../model/run-aborts.ts';
import { hookOf, moduleLabelOf, moduleOf, type Task } from '../model/tasks.ts';
import {
  type IsolationParts,
  isolate,
  logIfRecovered,
  requeueUnblocked,
  rerouteToModuleQueue,
} from '../queues/isolation.ts';
import {
  handleParallelModuleRun,
  type ParallelModuleRunParts,
  reportToGroup,
} from '../queues/parallel-module-run.ts';
import { endMessage, eventFields, flowFields, phaseOf, startMessage } from '../queues/task-log.ts';
import { ModuleDeployment } from '../reconcile/deploy-module.ts';
import { DiscoveryPass } from '../reconcile/discover-modules.ts';
import { ModuleRemoval } from '../reconcile/module-delete.ts';
import { handleModuleEnsureCrds } from '../reconcile/module-ensure-crds.ts';
import { ModuleLifecycle } from '../reconcile/module-lifecycle.ts';
import { ModuleRunner } from '../reconcile/module-run.ts';
import { ModuleTasks } from '../reconcile/module-tasks.ts';
import { DeploymentPreparation } from '../reconcile/prepare-deployment.ts';
import { handleDiscoverReleases, handleModulePurge } from '../reconcile/purge-releases.ts';
import { reconcileModule } from '../reconcile/reconcile-module.ts';
import { RefusedModules, type RefusedModulesParts, skipIfRefused } from '../reconcile/refused-modules.ts';
import { handleRetryEnabledScripts } from '../reconcile/retry-enabled-scripts.ts';
import { deferIfAway, type HandOverTasksParts, targetOf } from '../requests/hand-over-tasks.ts';
import { deferIfPaused, type PauseTasksParts } from '../requests/pause-tasks.ts';
import type { ModuleName } from '../values/module-key.ts';
import { handleApplyConfig } from './apply-config.ts';
import { handleConvergeModules } from './converge-modules.ts';
import type { Operator } from './operator.ts';
import { handleReloadFiles } from './reload-files.ts';

/** One attempt of a task. */
export interface Attempt {
  readonly entry: QueueEntry<Task>;
  readonly queue: TaskQueue<Task>;
  readonly signal: AbortSignal;
}

type Outcome = TaskOutcome<Task>;

/** The stages that follow. */
type Next = (attempt: Attempt) => Promise<Outcome>;

/** A part of the way of every attempt: it ends the attempt with an outcome of its own, or lets the next stages run. */
export type Stage = (attempt: Attempt, next: Next) => Promise<Outcome>;

/**
 * Runs one attempt of any task. A task that throws is tried again; the error is logged here, once.
 *
 * @param redactor takes the content of Secrets out of errors; default: nothing is taken out
 */
export function taskHandler(
  operator: Operator,
  redactor: Pick<Redactor, 'text'> = { text: (text) => text },
): TaskHandler<Task> {
  const run = inOrder([
    rerouteIsolated(operator),
    record(operator),
    redact(redactor),
    logFailure(operator),
    authorize(operator),
    handOver(operator),
    pause(operator),
    logAttempt(operator),
    lock(),
    abort(operator),
    dispatch(handlersOf(operator)),
  ]);
  return (entry, queue, signal) => run({ entry, queue, signal });
}

function inOrder(stages: readonly Stage[]): Next {
  const unhandled: Next = ({ entry }) => Promise.reject(new Error(`no stage handles ${entry.task.type}`));
  return stages.reduceRight<Next>((next, stage) => (attempt) => stage(attempt, next), unhandled);
}

type SkippingParts = Pick<Operator, 'journal'>;

const SUCCESS: Outcome = { type: 'success' };

/**
 * Moves a task of an isolated module to the queue of that module, and isolates a module whose task fails. It is the first
 * stage, because a task that is moved has had no attempt. Runs that are part of a group report their outcome to it.
 */
export function rerouteIsolated(
  operator: IsolationParts &
    ParallelModuleRunParts & { readonly policy: Pick<OperatorPolicy, 'failurePolicy'> },
): Stage {
  return async (attempt, next) => {
    const { entry, queue } = attempt;
    if (rerouteToModuleQueue(operator, entry.task, queue)) {
      // Runs of the same group do not wait for one that is isolated.
      reportOutcome(operator, entry.task, SUCCESS);
      return SUCCESS;
    }
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

/** Records the attempt in the journal. What ends it by an exception is the daemon's stop. */
export function record({ journal, traces }: Pick<Operator, 'journal' | 'traces'>): Stage {
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

/** Reports how a run ended to the runs of the same group. */
function reportOutcome(operator: ParallelModuleRunParts, task: Task, outcome: Outcome): void {
  if (task.type !== 'ModuleRun') return;
  if (outcome.type === 'retry') reportToGroup(operator, task, messageOf(outcome.error));
  if (isOver(outcome)) reportToGroup(operator, task, undefined);
}

/** A task that requests another one after it is not over yet. */
function isOver(outcome: Outcome): boolean {
  return outcome.type === 'success' && outcome.after === undefined;
}

/** Takes the content of Secrets out of a failure: queues and commands show it. */
export function redact(redactor: Pick<Redactor, 'text'>): Stage {
  return async (attempt, next) => {
    const outcome = await next(attempt);
    return outcome.type === 'retry' ? { ...outcome, error: redactedError(outcome.error, redactor) } : outcome;
  };
}

/** Logs what a later stage throws, and has the task tried again. An attempt that the daemon ends is not a failure. */
export function logFailure({ log, journal }: Pick<Operator, 'journal' | 'log'>): Stage {
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

/** Ends an attempt in which nothing is done: it counts neither as a success nor as a failure of its module. */
function skipped({ journal }: SkippingParts, { queue }: Attempt): Outcome {
  const run = journal.attemptIn(queue.name);
  if (run !== undefined) journal.end(run, { result: 'skipped' });
  return SUCCESS;
}

/** Skips tasks of modules that are not authorized, also their deletion. */
export function authorize(operator: RefusedModulesParts & SkippingParts): Stage {
  return async (attempt, next) =>
    skipIfRefused(operator, attempt.entry.task) ? skipped(operator, attempt) : await next(attempt);
}

/** Skips tasks of modules that are handed over; no module is handed over while an attempt for it is in progress. */
export function handOver(operator: HandOverTasksParts & SkippingParts): Stage {
  return async (attempt, next) => {
    const { task } = attempt.entry;
    if (deferIfAway(operator, task)) return skipped(operator, attempt);
    const target = targetOf(task);
    if (target === undefined) return await next(attempt);
    return await operator.handOvers.during(target, () => next(attempt));
  };
}

/** Skips runs of paused modules; they follow when the module is resumed. */
export function pause(operator: PauseTasksParts & SkippingParts): Stage {
  return async (attempt, next) =>
    deferIfPaused(operator, attempt.entry.task) ? skipped(operator, attempt) : await next(attempt);
}

/** Logs the beginning and the end of an attempt, and counts how long the task has waited for it. */
export function logAttempt(
  operator: Pick<Operator, 'clock' | 'journal' | 'log' | 'metrics' | 'registry'>,
): Stage {
  const { clock, journal, log, metrics, registry } = operator;
  return async (attempt, next) => {
    const { entry, queue } = attempt;
    const { task } = entry;
    // Runs of hooks count their waiting themselves: they may wait for other runs of the hook first.
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
      startMessage(task, phaseOf(registry, task)),
    );
    const outcome = await next(attempt);
    const level = task.type === 'ConvergeModules' ? 'info' : 'debug';
    log[level]({ ...flowFields(entry, queue.name, 'end'), ...trace }, endMessage(task, outcome.type));
    return outcome;
  };
}

/**
 * Lets one task at a time change the release and the state of a module, in any queue. While a task of another queue
 * has the lock, this one is repeated when that is over.
 */
export function lock(): Stage {
  const locked = new Map<ModuleName, Promise<void>>();
  return async (attempt, next) => {
    const { task } = attempt.entry;
    if (task.type !== 'ModuleRun' && task.type !== 'ModuleDelete' && task.type !== 'ModuleEnsureCRDs')
      return await next(attempt);
    const holder = locked.get(task.module);
    if (holder !== undefined) return { type: 'repeat', when: holder };
    const { promise, resolve } = Promise.withResolvers<void>();
    locked.set(task.module, promise);
    try {
      return await next(attempt);
    } finally {
      locked.delete(task.module);
      resolve();
    }
  };
}

/** Lets users end a run of a module or of one of its hooks, and changed files restart the run of a hook. */
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

/** Calls the handler of the task; nothing comes after it. */
export function dispatch(handlers: Handlers): Stage {
  return ({ entry, queue, signal }) => handle(handlers, entry, queue, signal);
}

/** What handlers are given: each declares the few parts that it uses. */
type Handlers = ReturnType<typeof handlersOf>;

/** Builds the parts of handlers from the parts of the operator, each from those that it uses. */
export function handlersOf(operator: Operator) {
  const synchronizations = new Synchronizations(operator);
  const lifecycle = new ModuleLifecycle(operator);
  const preparation = new DeploymentPreparation(operator);
  const refusals = new RefusedModules(operator);
  const removal = new ModuleRemoval({ ...operator, lifecycle });
  const deployment = new ModuleDeployment({ ...operator, refusals, preparation });
  const runner = new ModuleRunner({ ...operator, lifecycle, synchronizations, deployment });
  const discovery = new DiscoveryPass({ ...operator, refusals });
  const moduleTasks = new ModuleTasks(operator);
  return { ...operator, synchronizations, preparation, refusals, removal, runner, discovery, moduleTasks };
}

async function handle(
  operator: Handlers,
  ...[entry, queue, signal]: Parameters<TaskHandler<Task>>
): Promise<TaskOutcome<Task>> {
  const { task } = entry;
  switch (task.type) {
    case 'GlobalHookRun':
      return handleGlobalHookRun(operator, entry, task, queue, signal);
    case 'ModuleHookRun':
      return handleModuleHookRun(operator, entry, task, queue, signal);
    case 'GlobalHookEnableScheduleBindings':
      return handleEnableSchedules(operator, task.hook);
    case 'GlobalHookEnableKubernetesBindings':
      return handleEnableKubernetes(operator, task, signal);
    case 'GlobalHookWaitKubernetesSynchronization':
      return handleWaitSynchronization(operator);
    case 'ConvergeModules':
      return handleConvergeModules(operator, entry, task, queue, signal);
    case 'ApplyKubeConfigValues':
      return handleApplyConfig(operator, task, signal);
    case 'ReloadFiles':
      return handleReloadFiles(operator, task, signal);
    case 'ModuleRun':
      return reconcileModule(operator, task, queue, signal);
    case 'ParallelModuleRun':
      return handleParallelModuleRun(operator, task);
    case 'ModuleEnsureCRDs':
      return handleModuleEnsureCrds(operator, task, signal);
    case 'ModuleDelete':
      return reconcileModule(operator, task, queue, signal);
    case 'RetryEnabledScripts':
      return handleRetryEnabledScripts(operator, signal);
    case 'DiscoverHelmReleases':
      return handleDiscoverReleases(operator, signal);
    case 'ModulePurge':
      return handleModulePurge(operator, task.release, signal);
  }
}
