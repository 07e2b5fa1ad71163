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

/** What the functions here use of the operator. */
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
 * The queue in which a module's tasks wait because one of them failed, or failed in a module it requires. Its own one
 * comes first: in that of another it only waits.
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
 * Puts a task into the queue where it belongs, when that is another one than the queue it came up in: tasks of an
 * isolated module follow it, and the run of a module waits behind the failing module that it requires.
 *
 * @returns whether the task is gone
 */
export function rerouteToModuleQueue(operator: IsolationParts, task: Task, queue: TaskQueue<Task>): boolean {
  if (!isModuleTask(task) || !isOrdered(queue)) return false;
  if (task.type === 'ModuleDelete' && !isOutdated(operator, task)) forgetRuns(operator, task.module);
  const target = queueOfModule(operator, task.module, queue) ?? queueOfNeighbour(operator, task);
  if (target === undefined || target === queue) return false;
  if (!isPendingIn(target, task)) appendTo(operator, target, withoutGroup(task));
  if (task.type === 'ModuleRun' || task.type === 'ModuleDelete') retryNow(target, task.module);
  return true;
}

/** Where tasks of the module wait that come before one of them that has come up in this queue. */
function queueOfModule(
  operator: IsolationParts,
  module: ModuleName,
  queue: TaskQueue<Task>,
): TaskQueue<Task> | undefined {
  const waiting = isolatedQueueOf(operator, module);
  if (waiting === undefined || waiting === queue) return undefined;
  // In the queue of another module they only wait for that one.
  return isIsolated(queue) && !isOwn(waiting, module) ? undefined : waiting;
}

/** Events keep coming while a module fails, so its queue is kept short as those are that bindings name. */
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

/** Of a module to be deleted: what only waits for others must not hold the deletion up. */
function forgetRuns(operator: IsolationParts, module: ModuleName): void {
  const isForgotten = (task: Task): boolean =>
    isModuleTask(task) && task.type !== 'ModuleDelete' && task.module === module;
  for (const queue of operator.queues.all)
    if (isIsolated(queue) && !isOwn(queue, module)) operator.router.missRuns(queue.remove(isForgotten));
}

/** A deletion of a module that is enabled again, which will do nothing. */
function isOutdated(operator: IsolationParts, task: ModuleTask): boolean {
  return task.type === 'ModuleDelete' && operator.registry.isEnabled(task.module);
}

/**
 * Takes a task that failed out of the common queues, or out of the one of a module it requires, so that all others go on.
 * Returns whether that was done.
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
    // A queue of the binding blocks no other task, but the run that waits for a Synchronization in it does.
    if (task.type === 'ModuleHookRun' && isSynchronization(task)) isolateRun(operator, task.module, error);
    return false;
  }
  const own = operator.queues.get(ownQueueName(task.module));
  own.insertBefore(waitsFor(task), withoutGroup(task), failure);
  logIsolation(operator, task.module, own.name, error);
  return true;
}

/**
 * To be called before each attempt: what waits behind a failing module goes back to the main queue when nothing that it
 * waited for is isolated any more. The failing module may never succeed.
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
    // A module that is no longer blocked may be what others waited for.
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

/** Of a module that this one requires; a module must not be deleted before those that require it. */
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

/** Whether what the task is for is done by one that waits there already. */
function isPendingIn(queue: TaskQueue<Task>, task: ModuleTask): boolean {
  if (task.type === 'ModuleHookRun') return false;
  return queue.entries.some((entry) => {
    const other = entry.task;
    if (other.type !== task.type || other.module !== task.module || isRunning(queue, entry)) return false;
    return other.type !== 'ModuleRun' || other.isRecheck !== true;
  });
}

function isRunning(queue: TaskQueue<Task>, entry: QueueEntry<Task>): boolean {
  return queue.isAtWork(entry) && queue.status.type === 'running';
}

/** What waits after a failure may have waited for just this. */
function retryNow(queue: TaskQueue<Task>, module: ModuleName): void {
  const head = queue.entries[0]?.task;
  if (head !== undefined && moduleOf(head) === module) queue.cutDelay();
}

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

/** Whether tasks in the queue are done in the order of modules; queues that bindings name are not. */
function isOrdered(queue: TaskQueue<Task>): boolean {
  return queue.name === MAIN_QUEUE || queue.name.startsWith(PARALLEL_QUEUE_PREFIX) || isIsolated(queue);
}

function ownQueueName(module: string): string {
  return `${ISOLATED_QUEUE_PREFIX}${module}`;
}

function isOwn({ name }: TaskQueue<Task>, module: string): boolean {
  return name === ownQueueName(module);
}

/** Whether the queue is that of a module that failed. */
export function isIsolated({ name }: Pick<TaskQueue<Task>, 'name'>): boolean {
  return name.startsWith(ISOLATED_QUEUE_PREFIX);
}
