import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { QueueEntry, TaskQueue } from '@addon-operator/task-queue';
import type { UnloadedFiles } from '../model/converge-state.ts';
import { failedPartOf, sourceFile } from '../model/hook-file.ts';
import type { Place } from '../model/module-places.ts';
import { notReadyText } from '../model/probe-readiness.ts';
import { hookTitle, LONG_MS, type RunInProgress, taskOfRun } from '../model/running-hooks.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import { staleWatches, statesOf } from '../queues/binding-problems.ts';
import { isPutOff } from '../queues/put-off.ts';
import { titleOf } from '../queues/task-queue-view.ts';
import { failedHook } from '../queues/unfinished-runs.ts';
import type { BlockingTask, LongHook, Obstacles } from '../status/module-causes.ts';
import { NOTED_HOOK_MS } from '../status/running-hook.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Explained } from './explained.ts';

type AgedHook = RunInProgress & { readonly runningMs: number };

/** Obstacles of all modules; read once for a description of many modules. */
export interface CommonObstacles extends Pick<Obstacles, 'configProblem' | 'editConfigMap' | 'blocksAll'> {
  readonly unloaded: readonly UnloadedFiles[];
  /** Hooks that have been running for long, the longest running first. */
  readonly longHooks: readonly AgedHook[];
  /** The task that blocks a queue, computed once per queue. */
  readonly blocking: (queue: TaskQueue<Task>, head: QueueEntry<Task>) => BlockingTask;
}

/**
 * Reads the obstacles that all modules share: problems of the ConfigMap, unloaded files,
 * long-running hooks and blocked queues.
 */
export function commonObstacles(operator: Explained): CommonObstacles {
  const longHooks = operator.execution.running.withAges.filter(({ runningMs }) => runningMs >= NOTED_HOOK_MS);
  const blocked = new Map<TaskQueue<Task>, BlockingTask>();
  return {
    configProblem: configProblemOf(operator) ?? null,
    editConfigMap: operator.converge.editConfigMap,
    blocksAll: blockingAll(operator, longHooks),
    unloaded: operator.converge.unloaded,
    longHooks,
    blocking: (queue, head) => {
      const known = blocked.get(queue);
      if (known !== undefined) return known;
      const made = blockingTask(operator, queue, head, longHooks);
      blocked.set(queue, made);
      return made;
    },
  };
}

/** The obstacles of one module. @param places where its tasks are queued */
export function obstaclesOf(
  operator: Explained,
  name: ModuleName,
  places: readonly Place[],
  { configProblem, editConfigMap, blocksAll, unloaded, longHooks, blocking }: CommonObstacles,
): Obstacles {
  const { registry, converge, clock, queues } = operator;
  const tracked = registry.tracked.get(name);
  // A task of another module in front counts only if it is stuck: queues are normally not empty.
  const behind = places.find(
    ({ index, queue, head }) => index > 0 && moduleOf(head.task) !== name && isStuck(queue, head, longHooks),
  );
  return {
    configProblem,
    editConfigMap,
    unloadedFiles: unloaded.filter(({ module }) => module === undefined || module === name).map(unloadedText),
    blocksAll,
    blocksOwn: behind === undefined ? null : blocking(behind.queue, behind.head),
    hooks: longHooks
      .filter(({ labels }) => labels.module === name)
      .map((run) => longHook(run, taskOfRun(queues, run))),
    failedHooks: (tracked?.hooks ?? []).flatMap((runtime) =>
      runtime.finalFailures.map((failure) => failedHook(runtime, failure)),
    ),
    staleBindings: staleWatches(statesOf(tracked?.hooks ?? []), clock),
    isPutOff: isPutOff(operator, name, places),
    isRunDeferred: converge.deferredRuns.has(name),
    isDeployed: tracked?.isDeployed === true,
    notReady: notReadyText(tracked?.readiness),
    progress: moduleProgress(operator, name, places),
  };
}

/** A sentence about a change on disk that could not be loaded. */
export function unloadedText({ what, error }: UnloadedFiles): string {
  return `changed files cannot be loaded, the ${what} are as they were: ${error}`;
}

/**
 * Whether a run of the module is in progress or pending. Tasks of a converge do not count: it
 * queues one for each module.
 */
export function moduleProgress(
  { registry, operations }: Explained,
  module: ModuleName,
  places: readonly Place[],
): Obstacles['progress'] {
  const tracked = registry.tracked.get(module);
  if (tracked?.ongoing !== undefined) return 'running';
  if (tracked?.state.isRunPending === true || operations.isRunRequested(module)) return 'pending';
  const isPending = ({ entry: { task } }: Place): boolean =>
    task.type === 'ModuleRun' && !task.isPartOfConverge && task.isRecheck !== true;
  return places.some(isPending) ? 'pending' : 'none';
}

/** Why the content of the ConfigMap is not applied; undefined if it is. */
export function configProblemOf({
  converge,
  queues,
}: Pick<Explained, 'converge' | 'queues'>): string | undefined {
  if (converge.configProblem !== undefined) return converge.configProblem;
  if (!converge.isConfigRefused) return undefined;
  const applying = queues.all
    .flatMap(({ entries }) => entries)
    .find(({ task }) => task.type === 'ApplyKubeConfigValues');
  return applying === undefined || applying.lastError === ''
    ? 'it does not match the schemas'
    : applying.lastError;
}

/**
 * The task at the head of `main` that blocks all modules: a failing task without a module, as every
 * run goes through this queue, or a failing module with a change of values or files behind it.
 */
function blockingAll(operator: Explained, longHooks: readonly AgedHook[]): BlockingTask | null {
  const {
    router: { main },
    queues,
  } = operator;
  const head = headOf(main);
  if (head === undefined) return null;
  if (isOfModules(head.task) && !main.entries.some(({ task }) => bringsChanges(task))) return null;
  // This task only waits: the hooks that it waits for are in other queues.
  if (head.task.type === 'GlobalHookWaitKubernetesSynchronization')
    for (const queue of queues.all) {
      const other = headOf(queue);
      if (other?.task.type === 'GlobalHookRun' && isStuck(queue, other, longHooks))
        return blockingTask(operator, queue, other, longHooks);
    }
  return isStuck(main, head, longHooks) ? blockingTask(operator, main, head, longHooks) : null;
}

/** The running task, or the next one. */
function headOf(queue: TaskQueue<Task>): QueueEntry<Task> | undefined {
  return queue.entries.find((entry) => queue.isRunning(entry)) ?? queue.entries[0];
}

/** Whether the task belongs to one or more modules. */
function isOfModules(task: Task): boolean {
  return task.type === 'ParallelModuleRun' || moduleOf(task) !== '';
}

/** Whether modules wait for the task, since it applies changed values or files. */
function bringsChanges({ type }: Task): boolean {
  return type === 'ApplyKubeConfigValues' || type === 'ReloadFiles';
}

/** Whether a queue does not move on: its head fails, or a hook in it has been running for long. */
function isStuck(queue: TaskQueue<Task>, head: QueueEntry<Task>, longHooks: readonly AgedHook[]): boolean {
  return head.isFailing || longHooks.some(({ labels }) => labels.queue === queue.name);
}

/**
 * The task that blocks a queue, with the facts that a user needs to unblock it: error, file, next
 * attempt, running hook.
 */
function blockingTask(
  { registry }: Pick<Explained, 'registry'>,
  queue: TaskQueue<Task>,
  head: QueueEntry<Task>,
  longHooks: readonly AgedHook[],
): BlockingTask {
  const { status } = queue;
  const hook = longHooks.find(({ labels }) => labels.queue === queue.name);
  return {
    queue: queue.name,
    task: titleOf(head.task),
    error: head.lastError,
    file: failedFile(head, registry),
    nextAttemptAt: status.type === 'delayed' ? isoTime(status.retryAtMs) : null,
    hook: hook === undefined ? null : longHook(hook, head.task),
  };
}

/**
 * The failed file: the hook of the task, the hook that failed a module run, or an enabled script.
 */
export function failedFile({ task, lastFacts }: QueueEntry<Task>, registry: Explained['registry']): string {
  if ('hook' in task) return sourceFile(task.hook.hook, registry);
  const part = 'module' in task ? failedPartOf(task, registry.tracked.get(task.module)) : undefined;
  if (part?.type === 'hook') return sourceFile(part.hook, registry);
  const file = lastFacts?.['file'];
  return typeof file === 'string' ? file : '';
}

/** A long-running hook for explanations. From {@link LONG_MS} on it counts as stuck. */
function longHook(run: AgedHook, task: Task | undefined): LongHook {
  const { labels, startedAtMs, runningMs, pid } = run;
  return {
    hook: hookTitle(run),
    binding: labels.binding,
    queue: labels.queue,
    task: task?.type ?? '',
    pid: pid ?? null,
    since: isoTime(startedAtMs),
    isStuck: runningMs >= LONG_MS,
  };
}
