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

/** What the functions here use of the operator. */
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
 * Has an operation done with a module, if that is possible. It is not with one that is neither enabled nor on its way
 * out, is not authorized, or whose files are lost, and not before its pause ends.
 *
 * @returns `deleting` when its deletion is tried again: it is not enabled
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
  // A module that is refused may count as disabled; the reason for that is what the user needs to know. The request would be
  // kept until the module is run again, when it is not meant any more.
  const isRefused = operator.registry.isHeldBack(module);
  const isPending = operator.registry.started.has(module) || operator.router.isDeletionPending(module);
  if (refusal !== undefined && (isRefused || isWanted || isPending))
    return refusal.type === 'unauthorized' ? 'unauthorized' : 'held';
  if (!isWanted && !isPending) return 'disabled';
  if (isWanted && operation !== 'abort' && operator.pauses.of(module) !== undefined) return 'paused';
  operator.operations.request(module, operation);
  runOperation(operator, module, operation);
  return isWanted || operation === 'abort' ? 'requested' : 'deleting';
}

/**
 * Makes sure that the request is done soon: by the task that is next to come up for the module, or by one of its
 * own. An abort ends what runs at once.
 */
export function runOperation(
  operator: RequestOperationParts,
  module: ModuleName,
  operation: ModuleOperation,
): void {
  const { queues, log } = operator;
  log.info({ module, operation }, 'operation is requested');
  if (operation === 'abort') {
    operator.router.changes.noteAbort(module);
    endHookRuns(operator, module);
    if (operator.pauses.of(module) !== undefined) {
      // Nothing more is going on with it, and the run that follows the pause is not meant.
      settle(operator, module);
      return;
    }
  }
  const trigger = `Operation-${operation}`;
  let isNext = false;
  for (const queue of queues.all) {
    const head = queue.entries[0];
    if (head === undefined || !isReconcile(head.task, module)) continue;
    // Tasks in front of a run that waits for Synchronizations run before it.
    if (queue.status.type === 'repeating')
      queue.prepend({ ...operator.router.moduleRun(module, trigger), isRecheck: true });
    else queue.cutDelay();
    // An aborted run is repeated, unless it had ended already.
    isNext ||= queue.status.type !== 'running';
  }
  if (isNext) return;
  if (operation === 'abort' && operator.router.isDeletionIdle(module)) settle(operator, module);
  else operator.router.recheck(module, trigger);
}

/** Drops what is requested for a module with which nothing is going on. */
function settle({ operations }: RequestOperationParts, module: ModuleName): void {
  operations.take(module);
  operations.begin(module);
}

/** Ends what runs, and drops hooks that wait for another try: the abort would wait behind them. */
function endHookRuns(operator: RequestOperationParts, module: ModuleName): void {
  const { aborts, queues, log } = operator;
  const ended = new Set<Task>();
  for (const queue of queues.all) {
    const { entries } = queue;
    for (const { task } of entries.filter((entry) => queue.isAtWork(entry)))
      if (isHookRun(task, module)) ended.add(task);
    const dropped = queue.remove(
      (task, index) =>
        isHookRun(task, module) && (isSynchronization(task) || (entries[index]?.failures ?? 0) > 0),
    );
    for (const task of dropped) ended.add(task);
  }
  for (const task of operator.router.held.take(operator.registry.tracked.get(module)?.hooks ?? []))
    ended.add(task);
  aborts.abort(module);
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
