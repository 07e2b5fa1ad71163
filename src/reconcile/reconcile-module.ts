import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { FlowHookType } from '@addon-operator/sdk';
import type { TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { FlowPass, type FlowSubject } from '../extensions/flow/flow-pass.ts';
import type { ReconcileFailureParts } from '../hook-runs/reconcile-failure.ts';
import { failedReconcile } from '../hook-runs/reconcile-failure.ts';
import type { ModuleOperations } from '../model/module-operations.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleEvent } from '../model/module-state.ts';
import type { ModuleExtensions } from '../model/services.ts';
import type { ModuleDelete, ModuleRun, Task } from '../model/tasks.ts';
import type { OngoingReconcile, ReconcileStep, TrackedModule } from '../model/tracked-module.ts';
import type { RequiredModulesParts } from '../queues/required-modules.ts';
import {
  awaitedRequirement,
  checkRequirements,
  runDependents,
  runWaiting,
} from '../queues/required-modules.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { attemptOf } from './deploy-hooks.ts';
import type { FlowSubjectParts } from './flow-subject.ts';
import { flowSubject } from './flow-subject.ts';
import type { ModuleAbortParts } from './module-abort.ts';
import { abortModule } from './module-abort.ts';
import type { ModuleRemoval } from './module-delete.ts';
import type { ModuleMemory } from './module-memory.ts';
import type { ModuleRunner } from './module-run.ts';

/** The parts that a reconcile uses; most of them belong to the steps that it calls. */
export type ReconcileModuleParts = {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly operations: ModuleOperations;
  readonly clock: Clock;
  readonly log: Logger;
  readonly extensions: Pick<ModuleExtensions, 'flow'>;
  readonly runner: ModuleRunner;
  readonly removal: Pick<ModuleRemoval, 'remove'>;
  readonly memory: Pick<ModuleMemory, 'remember' | 'forget'>;
} & RequiredModulesParts &
  FlowSubjectParts &
  ModuleAbortParts &
  ReconcileFailureParts;

/** A ModuleRun or ModuleDelete, with the queue that runs it. */
interface Reconcile {
  readonly task: ModuleRun | ModuleDelete;
  readonly queue: TaskQueue<Task>;
}

const DONE: TaskOutcome<Task> = { type: 'success' };

// The place for flow hooks right before each step.
const PLACES: Readonly<Record<ReconcileStep, FlowHookType>> = {
  abort: 'BeforeAbort',
  'force-reconcile': 'BeforeForceReconcile',
  delete: 'BeforeDelete',
  reconcile: 'BeforeReconcile',
};

/**
 * One attempt of a ModuleRun or ModuleDelete, with the places at which flow hooks may act: Start,
 * responsibility, before any reconcile, before the step, End. The pipeline calls it;
 * `module-run.ts`, `module-delete.ts` or `module-abort.ts` carries out the step. A hook may end the
 * reconcile at each place, so requests are recorded in the state first and stay pending. A run that
 * waits, for example for Synchronizations, continues in its step at the next attempt. Errors become
 * an outcome in `hook-runs/reconcile-failure.ts`.
 */
export async function reconcileModule(
  operator: ReconcileModuleParts,
  task: Reconcile['task'],
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const startedMs = operator.clock.steadyMs();
  const requested = operator.operations.of(task.module);
  try {
    const tracked = operator.registry.tracked.get(task.module);
    // A module that was disabled in the meantime must not continue: its Synchronizations never
    // come.
    const goesOn = requested === undefined && isResponsible(operator, task);
    if (goesOn && tracked?.ongoing?.task === originalTaskOf(task))
      return await act(operator, tracked, tracked.ongoing, { task, queue }, signal);
    return await pass(operator, { task, queue }, signal);
  } catch (error) {
    return failedReconcile(operator, task, { error, startedMs, count: attemptOf(queue, task) }, signal);
  }
}

/**
 * The part of a reconcile before its step: records the request, asks the flow hooks, takes the
 * operation over.
 */
async function pass(
  operator: ReconcileModuleParts,
  { task, queue }: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const flow = new FlowPass(operator.extensions.flow());
  const known = operator.registry.track(task.module);
  // From here on a hook may end the reconcile: the request of the task is recorded to outlive that.
  if (known !== undefined && isResponsible(operator, task)) known.apply(requestOf(task));
  const ended = (): TaskOutcome<Task> => end(operator, task, flow);
  if (await flow.aborts('Start', undefined, signal)) return ended();

  const tracked = operator.registry.track(task.module);
  if (tracked === undefined) return DONE;
  let operation = operator.operations.of(task.module);
  const subject = (): FlowSubject => flowSubject(operator, tracked, { task, operation });

  const isByDefault = isResponsible(operator, task);
  if (!(await flow.isResponsible(isByDefault, subject, signal))) {
    if (!isByDefault) operator.operations.forget(task.module);
    return ended();
  }
  if (await flow.aborts('AfterResponsibilityCheck', subject, signal)) return ended();

  // Taken over only now, so that a hook before this place leaves the request as it is.
  operation = operator.operations.take(task.module);
  try {
    return await reconcileFor(operator, { tracked, flow, operation, subject }, { task, queue }, signal);
  } catch (error) {
    // Without this the next attempt would be a run. A newer request replaces the abort.
    if (operation === 'abort' && operator.operations.of(task.module) === undefined)
      operator.operations.request(task.module, 'abort');
    throw error;
  }
}

/** The subject of one reconcile after its operation was taken over. */
interface Taken {
  readonly tracked: TrackedModule;
  readonly flow: FlowPass;
  readonly operation: ModuleOperation | undefined;
  readonly subject: () => FlowSubject;
}

/** Decides the step, asks the flow hooks before it, and starts it. */
async function reconcileFor(
  operator: ReconcileModuleParts,
  { tracked, flow, operation, subject }: Taken,
  { task, queue }: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const ended = (): TaskOutcome<Task> => end(operator, task, flow);
  // Again, since flow hooks may have changed the state since `pass` applied it.
  tracked.apply(requestOf(task));
  const isNecessary = operation !== undefined || tracked.isUnfinished;
  if (isNecessary) tracked.history.noteReconcile(operator.clock.wallMs());
  if (isNecessary && operation !== 'abort' && task.type === 'ModuleRun')
    tracked.apply({ type: 'run-requested' });
  if (operation === 'force-reconcile') tracked.apply({ type: 'force-requested' });

  if (!(await flow.shouldReconcile(isNecessary, subject, signal))) return ended();
  if (!isNecessary) {
    tracked.history.noteReconcile(operator.clock.wallMs());
    // The hook wants a reconcile without a reason of the operator: only a forced run would do anything.
    tracked.apply({ type: 'force-requested' });
  }
  const deferred = (): TaskOutcome<Task> => {
    if (operation === 'abort') keepAbort(operator, task, flow);
    return recheckIfRequested(operator, task, ended());
  };
  if (await flow.aborts('BeforeAnyReconcile', subject, signal)) return deferred();

  const step = stepOf(task, operation);
  const awaited = mustRun(step) ? awaitedRequirement(operator, tracked.module) : undefined;
  if (awaited !== undefined) {
    operator.log.info(
      { module: task.module, requires: awaited },
      'Module waits until a required module is ready',
    );
    return deferred();
  }
  if (await flow.aborts(PLACES[step], subject, signal)) return deferred();
  operator.operations.begin(task.module);
  const ongoing = { task: originalTaskOf(task), step, flow, operation };
  tracked.startReconcile(ongoing);
  return await act(operator, tracked, ongoing, { task, queue }, signal);
}

/** Carries out the step, then runs the End hooks. */
async function act(
  operator: ReconcileModuleParts,
  tracked: TrackedModule,
  { step, flow, operation }: OngoingReconcile,
  reconcile: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { task } = reconcile;
  const subject = (error: string | undefined): FlowSubject =>
    flowSubject(operator, tracked, { task, operation, end: { error } });
  let isOver = false;
  try {
    const outcome = await perform(operator, tracked, step, reconcile, signal);
    // The step waits: the same reconcile continues at the next attempt, without its flow hooks.
    if (outcome.type === 'repeat') return outcome;
    isOver = true;
    tracked.endReconcile();
    await flow.aborts('End', () => subject(undefined), signal);
    end(operator, task, flow);
    return recheckIfRequested(operator, task, outcome);
  } catch (error) {
    tracked.endReconcile();
    // After a failure the result of End hooks is ignored: the reconcile has failed anyway.
    if (!isOver) await flow.aborts('End', () => subject(messageOf(error)), signal).catch(() => false);
    throw error;
  }
}

/**
 * Calls the code of the step. After a successful run the modules that waited for this one are
 * queued.
 */
async function perform(
  operator: ReconcileModuleParts,
  tracked: TrackedModule,
  step: ReconcileStep,
  { task, queue }: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (step === 'abort') return abortModule(operator, tracked, task);
  if (task.type === 'ModuleRun') {
    tracked.enterPart({ type: 'requirements' });
    checkRequirements(operator, tracked.module);
    tracked.enterPart(undefined);
    // Remembered before the run, so that a killed daemon leaves no release without a record of its
    // module.
    await operator.memory.remember(tracked.module, signal);
    const request = { tracked, task, queue, isForced: tracked.state.isForcePending };
    const wasReady = operator.registry.hasBeenReady(task.module);
    const outcome = await operator.runner.run(request, signal);
    if (outcome.type === 'success') {
      // After every success: dependents may have stalled because of an earlier failure.
      runDependents(operator, tracked.module);
      if (!wasReady) runWaiting(operator, tracked.module);
    }
    return outcome;
  }
  const run = { activation: '', queue: queue.name, task, attempt: attemptOf(queue, task) };
  await operator.removal.remove(tracked, run, signal);
  operator.memory.forget(tracked.module.name);
  return DONE;
}

/** Ends the reconcile with the next one that its flow hooks requested. */
function end(
  operator: ReconcileModuleParts,
  { module }: Reconcile['task'],
  flow: FlowPass,
): TaskOutcome<Task> {
  operator.router.requeues.request(module, flow.requeueAfterMs);
  return DONE;
}

/**
 * Whether the task still fits the module: a run needs an enabled module, a deletion one that is
 * not.
 */
function isResponsible(operator: ReconcileModuleParts, { type, module }: Reconcile['task']): boolean {
  return type === 'ModuleDelete' ? !operator.registry.isEnabled(module) : operator.registry.isWanted(module);
}

/** The event that keeps the task's request pending until it is handled. */
function requestOf(task: Reconcile['task']): ModuleEvent {
  if (task.type === 'ModuleDelete') return { type: 'deletion-requested' };
  return { type: task.isRecheck === true ? 'recheck-requested' : 'run-requested' };
}

/**
 * A deferred abort must be kept: otherwise the next reconcile would run the module. A hook that
 * gives no time has rejected it.
 */
function keepAbort(operator: ReconcileModuleParts, { module }: Reconcile['task'], flow: FlowPass): void {
  if (flow.requeueAfterMs !== undefined) operator.operations.request(module, 'abort');
  else operator.log.warn({ module }, 'A flow hook rejected the abort');
}

/**
 * Queues a recheck for a request that arrived in the meantime: only one is taken over per
 * reconcile.
 */
function recheckIfRequested(
  operator: ReconcileModuleParts,
  { module }: Reconcile['task'],
  outcome: TaskOutcome<Task>,
): TaskOutcome<Task> {
  const operation = operator.operations.of(module);
  const isDeferred = operator.router.requeues.dueMs(module) !== undefined;
  if (operation !== undefined && !isDeferred && outcome.type === 'success')
    operator.router.recheck(module, `Operation-${operation}`);
  return outcome;
}

/** The step for a task: a requested operation wins, except that a deletion is never forced. */
function stepOf({ type }: Reconcile['task'], operation: ModuleOperation | undefined): ReconcileStep {
  if (operation === 'abort') return 'abort';
  if (type === 'ModuleDelete') return 'delete';
  return operation === 'force-reconcile' ? 'force-reconcile' : 'reconcile';
}

/** Whether the step depends on the modules that this one requires. */
function mustRun(step: ReconcileStep): boolean {
  return step === 'reconcile' || step === 'force-reconcile';
}

/** An object that stays the same when the task moves to another queue. */
export function originalTaskOf(task: Reconcile['task']): object {
  return task.type === 'ModuleRun' ? (task.continues ?? task) : task;
}
