// The failure policy `isolate`: a module that fails must not block modules that do not require it.
// The pipeline calls `isolate` after a failed attempt, which moves the task to a queue
// `isolated_<module>`; before each attempt it calls `rerouteToModuleQueue`, which sends tasks of an
// isolated module, and of modules that require it, to that queue, and `requeueUnblocked`, which
// returns tasks to `main` that wait there without a reason.

import { errorFields, messageOf, retryAfterOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { PARALLEL_QUEUE_PREFIX } from '../model/parallel-runs.ts';
import { isSynchronization, MAIN_QUEUE, moduleOf, type Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleName } from '../values/module-key.ts';
import { appendHookRun } from './compact-queue.ts';
import type { TaskRouter } from './task-router.ts';

/** The parts that decide where tasks of a failing module wait, and log it. */
export interface IsolationParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly queues: QueueSet<Task>;
}

const ISOLATED_QUEUE_PREFIX = 'isolated_';

type ModuleTask = Extract<
  Task,
  { type: 'ModuleRun' | 'ModuleDelete' | 'ModuleEnsureCRDs' | 'ModuleHookRun' }
>;

/**
 * The queue in which a module's tasks wait because one of them failed, or failed in a module that
 * it requires. The module's own queue comes first, because in that of another module its tasks only
 * wait.
 */
export function isolatedQueueOf(
  operator: Pick<IsolationParts, 'queues'>,
  module: string,
): TaskQueue<Task> | undefined {
  const queues = operator.queues.all.filter(
    (queue) => isIsolated(queue) && queue.entries.some(({ task }) => moduleOf(task) === module),
  );
  return queues.find((queue) => isOwn(queue, module)) ?? queues[0];
}

/** Modules that fail by themselves and are isolated for it, in run order. */
export function isolatedModules(operator: {
  readonly registry: ModuleRegistry;
  readonly queues: QueueSet<Task>;
}): readonly ModuleName[] {
  const { registry, queues } = operator;
  const names = registry.modules.map(({ name }) => name);
  return names.filter((name) => {
    const own = queues.find(ownQueueName(name));
    return own !== undefined && own.entries.some(({ task }) => moduleOf(task) === name);
  });
}

/**
 * Moves a task to another queue if it does not belong in this one: tasks of an isolated module
 * follow it, and the run of a module waits behind the failing module that it requires.
 *
 * @returns whether the task was moved
 */
export function rerouteToModuleQueue(operator: IsolationParts, task: Task, queue: TaskQueue<Task>): boolean {
  if (!isModuleTask(task) || !isOrdered(queue)) return false;
  // The module is about to go: its runs that wait for other modules are pointless now.
  if (task.type === 'ModuleDelete' && !isOutdated(operator, task)) forgetRuns(operator, task.module);
  const target = queueOfModule(operator, task.module, queue) ?? queueOfNeighbour(operator, task);
  if (target === undefined || target === queue) return false;
  if (!isPendingIn(target, task)) appendTo(operator, target, withoutGroup(task));
  // A change or a request may be the cure of the failure, so the back-off of the failing task is
  // cut short.
  if (task.type === 'ModuleRun' || task.type === 'ModuleDelete') retryNow(target, task.module);
  return true;
}

/** The queue with earlier tasks of the module than the one that has come up in `queue`. */
function queueOfModule(
  operator: IsolationParts,
  module: ModuleName,
  queue: TaskQueue<Task>,
): TaskQueue<Task> | undefined {
  const waiting = isolatedQueueOf(operator, module);
  if (waiting === undefined || waiting === queue) return undefined;
  // Tasks that only wait in the queue of another module do not count.
  return isIsolated(queue) && !isOwn(waiting, module) ? undefined : waiting;
}

/**
 * Appends a task. Events keep arriving while a module fails, so its queue is compacted as queues of
 * bindings are.
 */
function appendTo(operator: IsolationParts, queue: TaskQueue<Task>, task: Task): void {
  if (task.type !== 'ModuleHookRun') queue.append(task);
  else if (isSynchronization(task)) queue.insertBefore(waitsFor(task), task);
  else appendHookRun(operator, task, queue.name);
}

/** The run of a module waits for its Synchronizations, so in one queue with it they have to come first. */
function waitsFor(task: ModuleTask): (other: Task) => boolean {
  if (task.type !== 'ModuleHookRun' || !isSynchronization(task)) return () => false;
  return (other) => other.type === 'ModuleRun' && other.module === task.module;
}

/**
 * Drops the tasks of a module to be deleted that wait for other modules: they must not delay the
 * deletion.
 */
function forgetRuns(operator: IsolationParts, module: ModuleName): void {
  const isForgotten = (task: Task): boolean =>
    isModuleTask(task) && task.type !== 'ModuleDelete' && task.module === module;
  for (const queue of operator.queues.all)
    if (isIsolated(queue) && !isOwn(queue, module)) operator.router.missRuns(queue.remove(isForgotten));
}

/** Whether a deletion is obsolete because the module is enabled again. */
function isOutdated(operator: IsolationParts, task: ModuleTask): boolean {
  return task.type === 'ModuleDelete' && operator.registry.isEnabled(task.module);
}

/**
 * Moves a failed task out of the common queues, or out of the queue of a module it requires, so
 * that all other modules continue. Returns whether it was moved.
 */
export function isolate(
  operator: IsolationParts,
  { id }: Pick<QueueEntry<Task>, 'id'>,
  queue: TaskQueue<Task>,
  failure: Extract<TaskOutcome<Task>, { type: 'retry' }>,
): boolean {
  const { error } = failure;
  const task = queue.entries.find((entry) => entry.id === id)?.task;
  if (task === undefined || !isModuleTask(task) || isOwn(queue, task.module)) return false;
  if (!isOrdered(queue)) {
    // A queue of a binding blocks no other task, but in `main` a ModuleRun waits for the
    // Synchronization in it.
    if (task.type === 'ModuleHookRun' && isSynchronization(task)) isolateRun(operator, task.module, error);
    return false;
  }
  const own = operator.queues.get(ownQueueName(task.module));
  own.insertBefore(waitsFor(task), withoutGroup(task), failure);
  logIsolation(operator, task.module, own.name, error);
  return true;
}

/**
 * Called before each attempt: returns tasks that wait behind a failing module to `main` when
 * nothing that they wait for is isolated any more. Without it they would wait for a module that may
 * never succeed.
 */
export function requeueUnblocked(
  operator: IsolationParts,
  { task }: QueueEntry<Task>,
  queue: TaskQueue<Task>,
): void {
  if (!isOwn(queue, moduleOf(task))) return;
  for (;;) {
    const held = new Set<ModuleName>();
    for (const entry of queue.entries)
      if (isModuleTask(entry.task) && queueOfNeighbour(operator, entry.task) !== undefined)
        held.add(entry.task.module);
    const isFree = ({ module }: ModuleTask): boolean => !isOwn(queue, module) && !held.has(module);
    // A module that was unblocked may have been the reason for others, hence the loop.
    if (!returnToMain(operator, queue, isFree)) return;
  }
}

/** Returns whether any task was moved. */
function returnToMain(
  operator: IsolationParts,
  queue: TaskQueue<Task>,
  isFree: (task: ModuleTask) => boolean,
): boolean {
  const free = queue.remove((task) => isModuleTask(task) && isFree(task)).filter(isModuleTask);
  for (const task of free) {
    if (!isPendingIn(operator.router.main, task)) appendTo(operator, operator.router.main, task);
  }
  for (const module of new Set(free.map((task) => task.module))) logRecovery(operator, module, queue.name);
  return free.length > 0;
}

/** Logs when a task was the last of its module in an isolated queue. */
export function logIfRecovered(
  operator: IsolationParts,
  { id, task }: QueueEntry<Task>,
  queue: TaskQueue<Task>,
): void {
  const module = moduleOf(task);
  if (!isIsolated(queue)) return;
  const waits = operator.queues.all.some(
    (other) =>
      isIsolated(other) &&
      other.entries.some((entry) => (other !== queue || entry.id !== id) && moduleOf(entry.task) === module),
  );
  if (!waits) logRecovery(operator, module, queue.name);
}

function logRecovery(operator: IsolationParts, module: string, queue: string): void {
  operator.log.info({ module, queue }, 'Module is no longer isolated');
}

function isolateRun(operator: IsolationParts, module: ModuleName, error: unknown): void {
  const { queues } = operator;
  for (const queue of queues.all.filter((other) => isOrdered(other) && !isOwn(other, module))) {
    const runs = queue.remove((task) => task.type === 'ModuleRun' && task.module === module);
    if (runs.length === 0) continue;
    const own = queues.get(ownQueueName(module));
    own.append(...runs.map(withoutGroup));
    // The group would wait for this run for ever: for the group it counts as done, and fails in its
    // own queue.
    for (const run of runs) if (run.type === 'ModuleRun') run.group?.succeeded(module);
    logIsolation(operator, module, own.name, error);
  }
}

function logIsolation(operator: IsolationParts, module: ModuleName, queue: string, error: unknown): void {
  if (retryAfterOf(error) !== undefined) {
    operator.log.info(
      { module, queue, reason: messageOf(error) },
      'Module has to wait and is isolated: other modules continue, except those that require it',
    );
    return;
  }
  operator.log.error(
    { module, queue, ...errorFields(error) },
    'Module failed and is isolated: other modules continue, except those that require it',
  );
}

/**
 * The queue of an isolated module that comes first: one that this module requires, or, for a
 * deletion, one that requires it.
 */
function queueOfNeighbour(operator: IsolationParts, task: ModuleTask): TaskQueue<Task> | undefined {
  if (task.type === 'ModuleHookRun' || isOutdated(operator, task)) return undefined;
  const neighbours =
    task.type === 'ModuleDelete'
      ? operator.registry.modules.filter((other) => requires(other, task.module)).map(({ name }) => name)
      : operator.registry.modules
          .filter(({ name }) => name === task.module)
          .flatMap(({ manifest }) => manifest.requires.filter(({ isOptional }) => !isOptional))
          .map(({ name }) => name);
  for (const name of neighbours) {
    const queue = isolatedQueueOf(operator, name);
    if (queue !== undefined) return queue;
  }
  return undefined;
}

function requires({ manifest }: Module, module: ModuleName): boolean {
  return manifest.requires.some(({ name, isOptional }) => name === module && !isOptional);
}

/** Whether a queued task already covers this one. */
function isPendingIn(queue: TaskQueue<Task>, task: ModuleTask): boolean {
  if (task.type === 'ModuleHookRun') return false;
  return queue.entries.some((entry) => {
    const other = entry.task;
    // A running task may have started before the change; a recheck may do nothing.
    if (other.type !== task.type || other.module !== task.module || isRunning(queue, entry)) return false;
    return other.type !== 'ModuleRun' || other.isRecheck !== true;
  });
}

function isRunning(queue: TaskQueue<Task>, entry: QueueEntry<Task>): boolean {
  return queue.isAtWork(entry) && queue.status.type === 'running';
}

/**
 * Cuts the back-off of a failing head of this module: the change that was queued may be the one
 * that it needs.
 */
function retryNow(queue: TaskQueue<Task>, module: ModuleName): void {
  const head = queue.entries[0]?.task;
  if (head !== undefined && moduleOf(head) === module) queue.cutDelay();
}

// The run continues outside of its group; `continues` keeps its trace and its identity for the flow
// hooks.
function withoutGroup(task: Task): Task {
  if (task.type !== 'ModuleRun') return task;
  const { group: _group, ...rest } = task;
  return { ...rest, isPartOfConverge: false, continues: task.continues ?? task };
}

function isModuleTask(task: Task): task is ModuleTask {
  return (
    task.type === 'ModuleRun' ||
    task.type === 'ModuleDelete' ||
    task.type === 'ModuleEnsureCRDs' ||
    task.type === 'ModuleHookRun'
  );
}

/** Whether the queue runs tasks in module order; queues of bindings do not. */
function isOrdered(queue: TaskQueue<Task>): boolean {
  return queue.name === MAIN_QUEUE || queue.name.startsWith(PARALLEL_QUEUE_PREFIX) || isIsolated(queue);
}

function ownQueueName(module: string): string {
  return `${ISOLATED_QUEUE_PREFIX}${module}`;
}

function isOwn({ name }: TaskQueue<Task>, module: string): boolean {
  return name === ownQueueName(module);
}

/** Whether the queue belongs to an isolated module. */
export function isIsolated({ name }: Pick<TaskQueue<Task>, 'name'>): boolean {
  return name.startsWith(ISOLATED_QUEUE_PREFIX);
}
