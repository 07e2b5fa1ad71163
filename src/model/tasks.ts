import type { Span, SpanContext } from '@addon-operator/base/trace';
import { type BindingType, isPartOfConverge } from '../hook-config/binding-kinds.ts';
import type { RunReason } from '../hooks/binding-context.ts';
import type { ModuleKey, ModuleName } from '../values/module-key.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { ParallelRuns } from './parallel-runs.ts';
import type { SavedFile } from './saved-files.ts';

// The tasks of all queues, and complete switches over their types: a new type is a compile error
// until each switch names it. `queues/task-router.ts` and the handlers queue tasks,
// `operator/task-pipeline.ts` runs them. A task is data: it holds no promise and no open resource,
// so it may be dropped, rewritten or moved to another queue while it waits.
/** The queue in which modules are brought to the desired state, one task after another. */
export const MAIN_QUEUE = 'main';

/** The trigger of a run that a user requested. */
export const REQUESTED = 'Request';

/** The trigger of what runs because files were changed. */
export const FILES_CHANGED = 'Files-Changed';

/** The cause of a converge, in the label for the event type of metrics and logs. */
export type ConvergeEvent = 'OperatorStartup' | 'GlobalValuesChanged' | 'ReloadAllModules';

/** Where a task comes from: the event that caused it, and the hook run in between, if any. */
export interface TaskOrigin {
  /** The same for all tasks that one event led to; every task in a queue has one. */
  readonly eventId?: string;
  /** That event as traces have it. */
  readonly root?: TraceRoot;
  /** The run of a hook whose changes led to the task, and for those behind it. */
  readonly triggeredBy?: TriggeringRun;
}

/** The event that led to a task, as traces have it. */
export interface TraceRoot {
  /** When it came, on the steady clock. */
  readonly atMs: number;
  readonly span: Span;
}

/** A run of a hook, as log records name it. */
export interface TriggeringRun {
  readonly hook: string;
  readonly binding: string;
  readonly bindingName: string;
  /** Of an event in the cluster. */
  readonly watchEvent?: string;
}

/** One run of one hook, as it waits in a queue. */
export interface HookRun extends TaskOrigin {
  readonly hook: HookRuntime;
  readonly binding: BindingType;
  /** At least one; more after runs were combined. */
  readonly reasons: readonly RunReason[];
  readonly allowFailure: boolean;
  /** So many reasons at the beginning were given to a run that failed; kept for hooks that coalesce events. */
  readonly attempted?: number;
  readonly trigger: string;
  /** `OperatorStartup` for everything the start caused, else empty. */
  readonly activation: string;
  /** The task of which the run is a part, and with which it is repeated; absent where the run itself is the task. */
  readonly repeatedBy?: object;
  /** Events of runs that were combined with this one. */
  readonly merged?: readonly SpanContext[];
  /** Limit in milliseconds where the hook has none of its own; absent: that of all hooks. */
  readonly fallbackTimeoutMs?: number;
}

export interface GlobalHookRun extends HookRun {
  readonly type: 'GlobalHookRun';
  /**
   * On the last afterAll hook of a converge: the checksum of the global values before the first of them. Different
   * values afterwards ask for another converge.
   */
  readonly valuesBeforeAfterAll?: string;
}

export interface ModuleHookRun extends HookRun {
  readonly type: 'ModuleHookRun';
  readonly module: ModuleName;
}

export type HookTask = GlobalHookRun | ModuleHookRun;

/** A run as a task of the owner of the hook. */
export function hookTask(run: HookRun): HookTask {
  const { owner } = run.hook.hook;
  return owner.type === 'global'
    ? { type: 'GlobalHookRun', ...run }
    : { type: 'ModuleHookRun', module: owner.module, ...run };
}

export interface ModuleRun extends TaskOrigin {
  readonly type: 'ModuleRun';
  readonly module: ModuleName;
  /** For people who read the queue: whether the module was not started yet when the task was made. */
  readonly doModuleStartup: boolean;
  readonly isPartOfConverge: boolean;
  /** The event of the converge that created it, for the metrics of helm; absent for other runs. */
  readonly event?: ConvergeEvent;
  /** Why the task was queued, such as a binding or a user's request; shown to users. */
  readonly trigger: string;
  readonly activation: string;
  /** Nothing has changed: the module is only looked at again. Default false. */
  readonly isRecheck?: boolean;
  /** The parallel run it is part of. */
  readonly group?: ParallelRuns<ModuleRun>;
  /** The original task, if this one continues it in another queue. */
  readonly continues?: ModuleRun;
}

export interface ModuleDelete extends TaskOrigin {
  readonly type: 'ModuleDelete';
  readonly module: ModuleName;
  readonly trigger: string;
}

/** Everything that can wait in a queue. */
export type Task = TaskOrigin & WaitingTask;

type WaitingTask =
  | HookTask
  | ModuleRun
  | ModuleDelete
  | {
      readonly type: 'GlobalHookEnableScheduleBindings';
      readonly hook: HookRuntime;
      readonly trigger: string;
    }
  | {
      readonly type: 'GlobalHookEnableKubernetesBindings';
      readonly hook: HookRuntime;
      readonly trigger: string;
    }
  | { readonly type: 'GlobalHookWaitKubernetesSynchronization'; readonly trigger: string }
  | { readonly type: 'ConvergeModules'; readonly event: ConvergeEvent; readonly trigger: string }
  | {
      readonly type: 'ApplyKubeConfigValues';
      /** Modules to be run when the values are taken over; none where a converge follows anyway. */
      readonly changedKeys: readonly ModuleKey[];
      readonly trigger: string;
    }
  | {
      readonly type: 'ReloadFiles';
      readonly saved: readonly SavedFile[];
      /** The modules whose files are read again; absent: all, and global hooks too. */
      readonly modules?: ReadonlySet<string>;
      readonly trigger: string;
    }
  | { readonly type: 'ParallelModuleRun'; readonly runs: ParallelRuns<ModuleRun>; readonly trigger: string }
  | { readonly type: 'ModuleEnsureCRDs'; readonly module: ModuleName; readonly trigger: string }
  | { readonly type: 'RetryEnabledScripts'; readonly trigger: string }
  | { readonly type: 'DiscoverHelmReleases'; readonly trigger: string }
  | { readonly type: 'ModulePurge'; readonly release: string; readonly trigger: string };

/** The module a task belongs to, of a parallel run all of them in words; empty for everything global. */
// The title lists all pending modules: operators read it in `queue list`.
export function moduleOf(task: Task): string {
  if (task.type === 'ParallelModuleRun') return task.runs.title;
  return 'module' in task ? task.module : '';
}

/** The same for metrics, whose label `module` holds the name of one module or nothing. */
export function moduleLabelOf(task: Task): string {
  return task.type === 'ParallelModuleRun' ? '' : moduleOf(task);
}

/** The hook a task runs; empty for tasks that run none. */
export function hookOf(task: Task): string {
  return 'hook' in task ? task.hook.hook.name : '';
}

/**
 * Whether a task belongs to a converge: such tasks are dropped and queued again when the converge
 * starts over. Tasks that only apply input (`ApplyKubeConfigValues`, `ReloadFiles`) stay, or the
 * input would be lost.
 */
export function isConvergeTask(task: Task): boolean {
  switch (task.type) {
    case 'ConvergeModules':
    case 'ModuleEnsureCRDs':
    case 'ModuleDelete':
    case 'ParallelModuleRun':
      return true;
    case 'ModuleRun':
      return task.isPartOfConverge;
    case 'GlobalHookRun':
      return isPartOfConverge(task.binding);
    case 'ModuleHookRun':
      return isSynchronization(task);
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'RetryEnabledScripts':
    case 'DiscoverHelmReleases':
    case 'ModulePurge':
      return false;
  }
}

/**
 * Whether the first converge is unfinished while this task is queued. Readiness of the daemon waits
 * for all of them.
 */
export function countsForConverge(task: Task): boolean {
  switch (task.type) {
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
    case 'DiscoverHelmReleases':
    case 'ModulePurge':
      return true;
    case 'GlobalHookRun':
    case 'ModuleHookRun':
    case 'ModuleRun':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'ConvergeModules':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'RetryEnabledScripts':
    case 'ModuleEnsureCRDs':
    case 'ModuleDelete':
    case 'ParallelModuleRun':
      return isConvergeTask(task);
  }
}

/** Whether the run hands the hook the initial state of a kubernetes binding. */
export function isSynchronization(run: HookRun): boolean {
  return run.reasons.some((reason) => reason.type === 'synchronization');
}

/**
 * Whether the run only hands over Synchronizations of a start. Its changes of values need no run of
 * their own, because the module run that waits for it uses them anyway.
 */
export function isOnlySynchronization(run: HookRun): boolean {
  const isOfStart = run.trigger !== REQUESTED && run.trigger !== FILES_CHANGED;
  return isOfStart && run.reasons.every((reason) => reason.type === 'synchronization');
}

/** One line for people: `<Type>:<queue>:<what>:<trigger>`. */
export function describeTask(task: Task, queue: string): string {
  return `${task.type}:${queue}:${describeWhat(task)}:${task.trigger}`;
}

function describeWhat(task: Task): string {
  switch (task.type) {
    case 'GlobalHookRun':
      return describeHookRun(task);
    case 'ModuleHookRun':
      return `${task.module}:${describeHookRun(task)}`;
    case 'ModuleRun':
      return task.doModuleStartup ? `${task.module}:doStartup` : task.module;
    case 'ModuleEnsureCRDs':
    case 'ModuleDelete':
      return task.module;
    case 'GlobalHookEnableScheduleBindings':
    case 'GlobalHookEnableKubernetesBindings':
      return `:${task.hook.hook.name}`;
    case 'ModulePurge':
      return task.release;
    case 'ParallelModuleRun':
      return task.runs.title;
    case 'ConvergeModules':
    case 'ApplyKubeConfigValues':
    case 'ReloadFiles':
    case 'GlobalHookWaitKubernetesSynchronization':
    case 'RetryEnabledScripts':
    case 'DiscoverHelmReleases':
      return ':';
  }
}

function describeHookRun(run: HookRun): string {
  const names = run.reasons.flatMap((reason) =>
    typeof reason.binding === 'string' ? [] : [reason.binding.name],
  );
  const bindings = [...new Set(names)].toSorted().join(',');
  const contexts = run.reasons.length > 1 ? ` in ${run.reasons.length} contexts` : '';
  return `${run.binding}:${run.hook.hook.name}${bindings === '' ? '' : `:${bindings}`}${contexts}`;
}
