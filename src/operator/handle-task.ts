import type { Clock } from '../lib/clock.ts';
import { errorFields, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { QueueEntry, QueuePlace, TaskHandler, TaskOutcome } from '../queue/task-queue.ts';
import { type ApplyConfigParts, handleApplyConfig } from './handlers/apply-config.ts';
import { type ConvergeModulesParts, handleConvergeModules } from './handlers/converge-modules.ts';
import {
  type EnableGlobalHookParts,
  handleEnableKubernetes,
  handleEnableSchedules,
  handleWaitSynchronization,
} from './handlers/enable-global-hook.ts';
import { type GlobalHookRunParts, handleGlobalHookRun } from './handlers/global-hook-run.ts';
import { handleModuleEnsureCrds, type ModuleEnsureCrdsParts } from './handlers/module-ensure-crds.ts';
import { handleModuleHookRun, type ModuleHookRunParts } from './handlers/module-hook-run.ts';
import {
  handleParallelModuleRun,
  type ParallelModuleRunParts,
  reportToGroup,
} from './handlers/parallel-module-run.ts';
import {
  handleDiscoverReleases,
  handleModulePurge,
  type PurgeReleasesParts,
} from './handlers/purge-releases.ts';
import { handleReloadFiles, type ReloadFilesParts } from './handlers/reload-files.ts';
import { divert, type IsolationParts, isolate, letGo, tellIfRecovered } from './isolation.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { ModulePhase } from './module-state.ts';
import type { ModuleTurns } from './module-turns.ts';
import { leaveOutIfPaused, type PauseTasksParts } from './pause-tasks.ts';
import { type ReconcileModuleParts, reconcileModule } from './reconcile-module.ts';
import { leaveOutIfRefused, type RefusedModulesParts } from './refused-modules.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import type { RunAborts } from './run-aborts.ts';
import type { OperatorPolicy } from './services.ts';
import { addMessage, endMessage, eventFields, flowFields, startMessage } from './task-log.ts';
import { hookOf, type ModuleRun, moduleLabelOf, moduleOf, type Task } from './tasks.ts';

/** What the handlers of all tasks use, and what is done around each attempt. */
export type TaskHandlerParts = {
  readonly registry: ModuleRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly turns: ModuleTurns;
  readonly aborts: RunAborts;
  readonly policy: Pick<OperatorPolicy, 'failurePolicy'>;
} & ApplyConfigParts &
  ConvergeModulesParts &
  EnableGlobalHookParts &
  GlobalHookRunParts &
  IsolationParts &
  ModuleEnsureCrdsParts &
  ModuleHookRunParts &
  ParallelModuleRunParts &
  PauseTasksParts &
  PurgeReleasesParts &
  ReconcileModuleParts &
  RefusedModulesParts &
  ReloadFilesParts;

/**
 * One attempt of any task. A task that throws is tried again; what it threw is logged here, once.
 *
 * @param guard what is put around each attempt, before anybody else learns of its outcome; by default nothing
 */
export function taskHandler(
  operator: TaskHandlerParts,
  guard: (attempt: TaskHandler<Task>) => TaskHandler<Task> = (attempt) => attempt,
): TaskHandler<Task> {
  const guarded = guard((...given) => attempt(operator, ...given));
  return async (entry, queue, signal) => {
    if (divert(operator, entry.task, queue)) {
      // Those that run at the same time do not wait for one that is isolated.
      if (entry.task.type === 'ModuleRun') tellGroup(operator, entry.task, SUCCESS);
      return SUCCESS;
    }
    letGo(operator, entry, queue);
    const outcome = await guarded(entry, queue, signal);
    const isMoved =
      outcome.type === 'retry' &&
      operator.policy.failurePolicy === 'isolate' &&
      isolate(operator, entry, queue, outcome);
    if (entry.task.type === 'ModuleRun') tellGroup(operator, entry.task, isMoved ? SUCCESS : outcome);
    if (outcome.type === 'success' && outcome.after === undefined) tellIfRecovered(operator, entry, queue);
    return isMoved ? SUCCESS : outcome;
  };
}

const SUCCESS: TaskOutcome<Task> = { type: 'success' };

async function attempt(
  operator: TaskHandlerParts,
  ...[entry, queue, signal]: Parameters<TaskHandler<Task>>
): Promise<TaskOutcome<Task>> {
  try {
    const { task } = entry;
    if (leaveOutIfRefused(operator, task) || leaveOutIfPaused(operator, task)) return SUCCESS;
    tellWait(operator, entry, queue.name);
    tellStart(operator, entry, queue.name);
    const outcome = await operator.turns.run(task, () =>
      operator.aborts.run(task, signal, (own) => dispatch(operator, entry, queue, own)),
    );
    const level = task.type === 'ConvergeModules' ? 'info' : 'debug';
    operator.log[level](flowFields(entry, queue.name, 'end'), endMessage(task, outcome.type));
    return outcome;
  } catch (error) {
    rethrowAbort(error, signal);
    logFailure(operator, entry.task, queue.name, error);
    return { type: 'retry', error };
  }
}

function tellStart(operator: TaskHandlerParts, entry: QueueEntry<Task>, queue: string): void {
  const { task } = entry;
  operator.log.info(flowFields(entry, queue, 'start'), startMessage(task, phaseOf(operator, task)));
}

/** Says which tasks were put into a queue, and where. */
export function tellAdded(
  operator: {
    readonly registry: ModuleRegistry;
    readonly log: Logger;
  },
  queue: string,
  place: QueuePlace,
  entries: readonly QueueEntry<Task>[],
): void {
  const { log } = operator;
  for (const entry of entries)
    log.info(flowFields(entry, queue, 'add'), addMessage(place, entry.task, phaseOf(operator, entry.task)));
}

function phaseOf(operator: Pick<TaskHandlerParts, 'registry'>, task: Task): ModulePhase {
  return (task.type === 'ModuleRun' && operator.registry.states.get(task.module)?.phase) || 'startup';
}

/** Runs of hooks count their waiting themselves: they may wait for their turn first. */
function tellWait({ clock, metrics }: TaskHandlerParts, entry: QueueEntry<Task>, queue: string): void {
  const { task, queuedAtMs } = entry;
  if (task.type === 'GlobalHookRun' || task.type === 'ModuleHookRun') return;
  const labels = { module: moduleLabelOf(task), hook: hookOf(task), binding: task.type, queue };
  metrics.taskWait(labels, (clock.steadyMs() - queuedAtMs) / 1_000);
}

/** A run that asks for another one is not over yet. */
function tellGroup(operator: TaskHandlerParts, task: ModuleRun, outcome: TaskOutcome<Task>): void {
  if (outcome.type === 'retry') reportToGroup(operator, task, messageOf(outcome.error));
  if (outcome.type === 'success' && outcome.after === undefined) reportToGroup(operator, task, undefined);
}

async function dispatch(
  operator: TaskHandlerParts,
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
      return handleReloadFiles(operator, signal);
    case 'ModuleRun':
      return reconcileModule(operator, task, queue, signal);
    case 'ParallelModuleRun':
      return handleParallelModuleRun(operator, task);
    case 'ModuleEnsureCRDs':
      return handleModuleEnsureCrds(operator, task, signal);
    case 'ModuleDelete':
      return reconcileModule(operator, task, queue, signal);
    case 'DiscoverHelmReleases':
      return handleDiscoverReleases(operator, signal);
    case 'ModulePurge':
      return handleModulePurge(operator, task.release, signal);
  }
}

function logFailure(operator: TaskHandlerParts, task: Task, queue: string, error: unknown): void {
  const fields = {
    queue,
    module: moduleOf(task),
    hook: hookOf(task),
    ...errorFields(error),
    ...eventFields(task),
  };
  const { log } = operator;
  switch (task.type) {
    case 'GlobalHookRun':
      log.error(fields, 'Global hook failed, requeue task to retry after delay.');
      return;
    case 'ModuleHookRun':
      log.error(fields, 'Module hook failed, requeue task to retry after delay.');
      return;
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'ConvergeModules':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'ParallelModuleRun':
    case 'ModuleEnsureCRDs':
    case 'ModuleRun':
    case 'ModuleDelete':
    case 'DiscoverHelmReleases':
    case 'ModulePurge':
      log.error({ ...fields, task: task.type }, 'Task failed, requeue it to retry after delay.');
  }
}
