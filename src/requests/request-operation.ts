// Operations that a user requests for a module: reconcile, force-reconcile, abort. Commands of the
// debug endpoint call `requestOperation`, annotations of Module objects call `runOperation`. Both
// only record the request and wake a task; `reconcile/reconcile-module.ts` takes the request over
// and carries it out.

import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleOperations } from '../model/module-operations.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { RunAborts } from '../model/run-aborts.ts';
import { isSynchronization, type ModuleHookRun, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import type { ModuleName } from '../values/module-key.ts';

/** The parts that record a request and wake a task for it. */
export interface RequestOperationParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly operations: ModuleOperations;
  readonly aborts: RunAborts;
  readonly log: Logger;
  readonly queues: QueueSet<Task>;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll'>;
}

/**
 * Requests an operation on a module. Refused if the module is neither enabled nor being deleted, is
 * not authorized, has lost files, or is paused.
 *
 * @returns `deleting` if its deletion is retried, since the module is not enabled
 */
export function requestOperation(
  operator: RequestOperationParts,
  name: string,
  operation: ModuleOperation,
): 'requested' | 'deleting' | 'disabled' | 'paused' | 'unauthorized' | 'held' {
  const found = operator.registry.find(name);
  if (found === undefined) return 'disabled';
  const { name: module } = found;
  const refusal = operator.registry.holdOf(module);
  const isWanted = operator.registry.isWanted(module);
  // A refused module may count as disabled, but the user needs the reason. A recorded request would
  // run much later, when the module may run again.
  const isRefused = operator.registry.isHeldBack(module);
  const isPending = operator.registry.started.has(module) || operator.router.isDeletionPending(module);
  if (refusal !== undefined && (isRefused || isWanted || isPending))
    return refusal.type === 'unauthorized' ? 'unauthorized' : 'held';
  if (!isWanted && !isPending) return 'disabled';
  // An abort is possible while a module is paused: a run may still be in progress.
  if (isWanted && operation !== 'abort' && operator.pauses.of(module) !== undefined) return 'paused';
  operator.operations.request(module, operation);
  runOperation(operator, module, operation);
  return isWanted || operation === 'abort' ? 'requested' : 'deleting';
}

/**
 * Ensures that the request is handled soon: by the next task of the module, or by a new one. An
 * abort also ends running hooks and helm at once.
 */
export function runOperation(
  operator: RequestOperationParts,
  module: ModuleName,
  operation: ModuleOperation,
): void {
  const { queues, log } = operator;
  log.info({ module, operation }, 'operation is requested');
  if (operation === 'abort') {
    // Noted before anything ends: a change that comes after this is not covered by the abort.
    operator.router.changes.noteAbort(module);
    endHookRuns(operator, module);
    if (operator.pauses.of(module) !== undefined) {
      // No task comes up while the module is paused, and the run after the pause must not be
      // aborted.
      settle(operator, module);
      return;
    }
  }
  const trigger = `Operation-${operation}`;
  let isNext = false;
  for (const queue of queues.all) {
    const head = queue.entries[0];
    if (head === undefined || !isReconcile(head.task, module)) continue;
    // A waiting run repeats only after the Synchronizations in front of it: a new task goes in
    // front of them.
    if (queue.status.type === 'repeating')
      queue.prepend({ ...operator.router.moduleRun(module, trigger), isRecheck: true });
    else queue.cutDelay();
    // The attempt in progress may have passed the point at which it takes requests over.
    isNext ||= queue.status.type !== 'running';
  }
  if (isNext) return;
  // Nothing runs and nothing is queued: an abort has nothing to end.
  if (operation === 'abort' && operator.router.isDeletionIdle(module)) settle(operator, module);
  else operator.router.recheck(module, trigger);
}

/** Drops the request for an idle module. */
function settle({ operations }: RequestOperationParts, module: ModuleName): void {
  operations.take(module);
  operations.begin(module);
}

/**
 * Ends running hooks of the module, and drops its hook tasks that wait for a retry: the abort would
 * wait behind them.
 */
function endHookRuns(operator: RequestOperationParts, module: ModuleName): void {
  const { aborts, queues, log } = operator;
  const ended = new Set<Task>();
  for (const queue of queues.all) {
    const { entries } = queue;
    for (const { task } of entries.filter((entry) => queue.isAtWork(entry)))
      if (isHookRun(task, module)) ended.add(task);
    const dropped = queue.remove(
      (task, index) =>
        // Events that never failed stay queued: only failing ones block the queue.
        isHookRun(task, module) && (isSynchronization(task) || (entries[index]?.failures ?? 0) > 0),
    );
    for (const task of dropped) ended.add(task);
  }
  for (const task of operator.router.held.take(operator.registry.tracked.get(module)?.hooks ?? []))
    ended.add(task);
  aborts.abort(module);
  // Their events and Synchronizations are kept for the next run of the module.
  operator.router.missRuns([...ended]);
  for (const task of ended)
    if (isHookRun(task, module) && !isSynchronization(task))
      log.warn(
        { module, hook: task.hook.hook.name, binding: task.binding },
        'hook run is terminated on request and not retried: its kubernetes bindings are synchronized in the next run of the module',
      );
}

function isHookRun(task: Task, module: ModuleName): task is ModuleHookRun {
  return task.type === 'ModuleHookRun' && task.module === module;
}

function isReconcile(task: Task, module: ModuleName): boolean {
  return (task.type === 'ModuleRun' || task.type === 'ModuleDelete') && task.module === module;
}
