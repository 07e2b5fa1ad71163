import { FlowPass, type FlowSubject } from '../extensions/flow/flow-pass.ts';
import { messageOf } from '../lib/errors.ts';
import type { TaskOutcome, TaskQueue } from '../queue/task-queue.ts';
import type { FlowHookType } from '../sdk/flow-hooks.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { attemptOf } from './deploy-hooks.ts';
import { checkRequirements, runDependents } from './failed-requirements.ts';
import { flowSubject } from './flow-subject.ts';
import { abortModule } from './handlers/module-abort.ts';
import { removeModule } from './handlers/module-delete.ts';
import { runModule } from './handlers/module-run.ts';
import { isUnfinished, type ModuleState, type OngoingReconcile, type ReconcileStep } from './module-state.ts';
import type { Operator } from './operator.ts';
import { failedReconcile } from './reconcile-failure.ts';
import type { ModuleDelete, ModuleRun, Task } from './tasks.ts';

/** A task that brings one module to where it should be, in the queue it came up in. */
interface Reconcile {
  readonly task: ModuleRun | ModuleDelete;
  readonly queue: TaskQueue<Task>;
}

const DONE: TaskOutcome<Task> = { type: 'success' };

const PLACES: Readonly<Record<ReconcileStep, FlowHookType>> = {
  abort: 'BeforeAbort',
  'force-reconcile': 'BeforeForceReconcile',
  delete: 'BeforeDelete',
  reconcile: 'BeforeReconcile',
};

/**
 * The way of every run and every deletion of a module, with the places at which flow hooks may act. A run that waits for
 * something else meanwhile, such as Synchronizations, goes on in its step when it comes up again.
 */
export async function reconcileModule(
  operator: Operator,
  task: Reconcile['task'],
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const startedMs = operator.deps.clock.now();
  const asked = operator.operations.of(task.module);
  try {
    const state = operator.moduleStates.get(task.module);
    // Synchronizations of a module that was disabled meanwhile never come: it would ask for them for ever.
    const goesOn = asked === undefined && isResponsible(operator, task);
    if (goesOn && state?.ongoing?.task === identityOf(task))
      return await act(operator, state, state.ongoing, { task, queue }, signal);
    return await pass(operator, { task, queue }, signal);
  } catch (error) {
    // Without it the next attempt would be a run.
    if (asked === 'abort' && operator.operations.of(task.module) === undefined)
      operator.operations.ask(task.module, 'abort');
    return failedReconcile(operator, task, { error, startedMs, count: attemptOf(queue, task) }, signal);
  }
}

async function pass(
  operator: Operator,
  { task, queue }: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const flow = new FlowPass(operator.deps.flow());
  const ended = (): TaskOutcome<Task> => end(operator, task, flow);
  if (await flow.aborts('Start', undefined, signal)) return ended();

  const state = operator.stateOf(task.module);
  if (state === undefined) return DONE;
  let operation = operator.operations.of(task.module);
  const subject = (): FlowSubject => flowSubject(operator, state, { task, operation });

  if (!(await flow.isResponsible(isResponsible(operator, task), subject, signal))) {
    operator.operations.forget(task.module);
    return ended();
  }
  if (await flow.aborts('AfterResponsibilityCheck', subject, signal)) return ended();

  operation = operator.operations.take(task.module);
  const isNecessary = operation !== undefined || isChanged(state, task);
  if (isNecessary) state.reconcileStartedMs = operator.deps.clock.now();
  if (isNecessary && operation !== 'abort') state.isRunOwed = true;
  if (operation === 'force-reconcile') state.isForceOwed = true;

  if (!(await flow.shouldReconcile(isNecessary, subject, signal))) return ended();
  if (!isNecessary) {
    state.reconcileStartedMs = operator.deps.clock.now();
    // Otherwise nothing would come of it.
    state.isForceOwed = true;
  }
  if (await flow.aborts('BeforeAnyReconcile', subject, signal)) return ended();

  const step = stepOf(task, operation);
  if (await flow.aborts(PLACES[step], subject, signal)) return ended();
  if (step !== 'abort') state.givenUp = undefined;
  state.ongoing = { task: identityOf(task), step, flow, operation };
  return await act(operator, state, state.ongoing, { task, queue }, signal);
}

/** The step itself, and what follows when its code has returned. */
async function act(
  operator: Operator,
  state: ModuleState,
  { step, flow, operation }: OngoingReconcile,
  reconcile: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { task } = reconcile;
  const subject = (error: string | undefined): FlowSubject =>
    flowSubject(operator, state, { task, operation, end: { error } });
  let isOver = false;
  try {
    const outcome = await perform(operator, state, step, reconcile, signal);
    if (outcome.type === 'repeat') return outcome;
    isOver = true;
    state.ongoing = undefined;
    await flow.aborts('End', () => subject(undefined), signal);
    end(operator, task, flow);
    return outcome;
  } catch (error) {
    state.ongoing = undefined;
    // What End hooks say after a failure changes nothing: the result of the reconcile is the failure.
    if (!isOver) await flow.aborts('End', () => subject(messageOf(error)), signal).catch(() => false);
    throw error;
  }
}

async function perform(
  operator: Operator,
  state: ModuleState,
  step: ReconcileStep,
  { task, queue }: Reconcile,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (step === 'abort') return abortModule(operator, state, task);
  if (task.type === 'ModuleRun') {
    checkRequirements(operator, state.module);
    const request = { state, task, queue, isForced: state.isForceOwed };
    const outcome = await runModule(operator, request, signal);
    if (outcome.type === 'success') {
      state.isRunOwed = false;
      state.isForceOwed = false;
      runDependents(operator, state.module);
    }
    return outcome;
  }
  const run = { activation: '', queue: queue.name, task, attempt: attemptOf(queue, task) };
  await removeModule(operator, state, run, signal);
  return DONE;
}

function end(operator: Operator, { module }: Reconcile['task'], flow: FlowPass): TaskOutcome<Task> {
  operator.requeues.ask(module, flow.requeueAfterMs);
  return DONE;
}

function isResponsible(operator: Operator, { type, module }: Reconcile['task']): boolean {
  return type === 'ModuleDelete' ? !operator.isEnabled(module) : operator.isWanted(module);
}

function isChanged(state: ModuleState, task: Reconcile['task']): boolean {
  return task.type === 'ModuleDelete' || task.isRecheck !== true || isUnfinished(state);
}

function stepOf({ type }: Reconcile['task'], operation: ModuleOperation | undefined): ReconcileStep {
  if (operation === 'abort') return 'abort';
  if (type === 'ModuleDelete') return 'delete';
  return operation === 'force-reconcile' ? 'force-reconcile' : 'reconcile';
}

/** The same for a task that was put into another queue meanwhile. */
export function identityOf(task: Reconcile['task']): object {
  return task.type === 'ModuleRun' ? (task.continues ?? task) : task;
}
