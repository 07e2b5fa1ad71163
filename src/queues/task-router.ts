import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { KubernetesBinding, ScheduleBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import type { RunReason } from '../hooks/binding-context.ts';
import type { EventBacklog } from '../hooks/event-backlog.ts';
import type { HookOwner } from '../hooks/hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import { FailedScripts } from '../model/failed-scripts.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { PARALLEL_QUEUE_PREFIX } from '../model/parallel-runs.ts';
import { Requeues } from '../model/requeues.ts';
import type { Synchronization } from '../model/synchronization.ts';
import { originFields } from '../model/task-origin.ts';
import {
  type ConvergeEvent,
  type HookTask,
  hookTask,
  isConvergeTask,
  MAIN_QUEUE,
  type ModuleRun,
  type Task,
  type TaskOrigin,
} from '../model/tasks.ts';
import type { ModuleName } from '../values/module-key.ts';
import { appendToOwnQueue } from './compact-queue.ts';
import { HeldRuns } from './held-runs.ts';
import { missRuns } from './missed-events.ts';

export interface TaskRouterDeps {
  readonly queues: QueueSet<Task>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Pick<OperatorMetrics, 'queueCompaction'>;
  /** Bounds the events that wait in the queues. */
  readonly backlog: Pick<EventBacklog, 'bytesOf' | 'change' | 'hold' | 'relieve'>;
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: Pick<GlobalHooks, 'synchronization'>;
}

/**
 * Counts what was changed about each module. A waiting run serves later changes too, so the tasks in the queues do not
 * show whether a change came before or after an abort was requested; the counts do.
 */
class ChangeCounts {
  readonly #counts = new Map<ModuleName, number>();
  readonly #atAbort = new Map<ModuleName, number>();

  /** A run of the module is necessary. */
  note(module: ModuleName): void {
    this.#counts.set(module, this.#countOf(module) + 1);
  }

  /** An abort is requested: it ends what was changed until now. */
  noteAbort(module: ModuleName): void {
    this.#atAbort.set(module, this.#countOf(module));
  }

  /** Whether the module was changed after the last abort was requested. */
  isChangedSinceAbort(module: ModuleName): boolean {
    const count = this.#countOf(module);
    return count > (this.#atAbort.get(module) ?? count);
  }

  #countOf(module: ModuleName): number {
    return this.#counts.get(module) ?? 0;
  }
}

/**
 * Turns events, ticks of crontabs and changes of modules into tasks, and puts each into the queue where it belongs. Monitors
 * (`hook-parts.ts`), schedules, changes of the ConfigMap and handlers call it; it runs nothing itself. The queues take
 * the tasks from here, and `task-pipeline.ts` runs each attempt.
 */
export class TaskRouter {
  readonly #deps: TaskRouterDeps;
  readonly changes = new ChangeCounts();
  readonly requeues: Requeues;
  /** Runs of hooks that wait beside their queues. */
  readonly held: HeldRuns;
  readonly failedScripts: FailedScripts;

  constructor(deps: TaskRouterDeps) {
    this.#deps = deps;
    this.held = new HeldRuns({ ...deps, release: (task) => appendToOwnQueue(deps, task) });
    this.requeues = new Requeues({
      clock: deps.clock,
      onDue: (module) => this.recheck(module, 'Reconcile-Requeue'),
    });
    this.failedScripts = new FailedScripts({
      ...deps,
      onDue: () => this.main.append({ type: 'RetryEnabledScripts', trigger: 'Enabled-Script-Retry' }),
    });
  }

  /** The queue in which modules are brought to the desired state. */
  get main(): TaskQueue<Task> {
    return this.#deps.queues.get(MAIN_QUEUE);
  }

  /**
   * Queues a ModuleRun at the end of `main`. Does nothing if one is already queued for this module; a run in progress does
   * not count, because it may have started before the change.
   */
  queueModuleRun(module: ModuleName, trigger: string, origin: TaskOrigin = {}): void {
    if (!this.#deps.registry.isEnabled(module)) return;
    this.changes.note(module);
    if (this.isModuleRunPending(module)) {
      const fields = { 'task.flow': 'noop', module, trigger, ...originFields(origin) };
      this.#deps.log.info(fields, 'module values are changed, ModuleRun task already queued');
      return;
    }
    this.main.append({ ...this.moduleRun(module, trigger), ...origin });
  }

  /** Whether a ModuleRun waits somewhere that will bring everything as it is now into force. */
  isModuleRunPending(module: ModuleName): boolean {
    return this.isRunPending(module, (task) => task.isRecheck !== true);
  }

  /** Whether a ModuleRun of any kind is queued; a run in progress does not count. */
  isRunPending(module: ModuleName, isWanted: (task: ModuleRun) => boolean = () => true): boolean {
    return this.#deps.queues.all.some((queue) =>
      queue.entries.some((entry) => {
        const { task } = entry;
        if (task.type === 'ParallelModuleRun')
          return !task.runs.isSpread && task.runs.pending.includes(module);
        return (
          task.type === 'ModuleRun' && task.module === module && !queue.isAtWork(entry) && isWanted(task)
        );
      }),
    );
  }

  moduleRun(module: ModuleName, trigger: string): ModuleRun {
    const doModuleStartup = this.#deps.registry.track(module)?.phase === 'startup';
    return { type: 'ModuleRun', module, doModuleStartup, isPartOfConverge: false, trigger, activation: '' };
  }

  queueConverge(event: ConvergeEvent, trigger: string, origin: TaskOrigin = {}): void {
    this.main.append({ type: 'ConvergeModules', event, trigger, ...origin });
  }

  /**
   * Starts the converge over: what is left of one in progress is dropped, up to its ConvergeModules task, and the new
   * one takes its place at the head. Without one in progress the new one goes to the end of `main`. Deletions that it
   * finds by itself are dropped in any case: one that fails would keep it from enabling the module again.
   */
  restartConverge(event: ConvergeEvent, trigger: string, origin: TaskOrigin = {}): void {
    const converge: Task = { type: 'ConvergeModules', event, trigger, ...origin };
    const isInterrupted = this.#dropConverge();
    const started = this.#deps.registry.started;
    this.main.remove((task) => task.type === 'ModuleDelete' && started.has(task.module));
    this.#deps.converge.enter('standby');
    if (isInterrupted) this.main.prepend(converge);
    else this.main.append(converge);
  }

  /** Removes tasks of hooks from all queues; one that runs now goes on to its end, but not again. */
  dropTasksOf(runtimes: readonly HookRuntime[]): void {
    for (const queue of this.#deps.queues.all) {
      queue.remove((task) => 'hook' in task && runtimes.includes(task.hook));
    }
    this.held.take(runtimes);
  }

  /** To be called with tasks that are dropped while they may be needed again: what their hooks miss comes later. */
  missRuns(dropped: readonly Task[]): void {
    missRuns(dropped, this.#deps.queues, ({ hook }) => this.synchronizationOf(hook.owner), this.held);
  }

  /** Turns a watch event into a task in the binding's queue. */
  onKubernetesEvent(runtime: HookRuntime, binding: KubernetesBinding, event: KubernetesEvent): void {
    const reason: RunReason = { type: 'event', binding, event };
    const task = this.#hookRun(runtime, binding, reason, 'Kubernetes');
    const { debounce } = binding;
    if (debounce === undefined) this.#append(task);
    else if (!this.held.join(task)) this.held.debounce(task, binding, debounce);
    this.#deps.backlog.relieve();
  }

  /** Turns a tick of a crontab into a task in the binding's queue; before the first converge is over it is ignored. */
  onScheduleTick(runtime: HookRuntime, binding: ScheduleBinding): void {
    if (!this.takesTicks(runtime)) return;
    const reason: RunReason = { type: 'schedule', binding };
    this.#append(this.#hookRun(runtime, binding, reason, 'Schedule'));
  }

  /** Whether ticks of the crontabs of a hook become tasks now. */
  takesTicks(runtime: HookRuntime): boolean {
    const { owner } = runtime.hook;
    if (this.#deps.converge.first !== 'done' || runtime.isStopped || !runtime.areSchedulesEnabled)
      return false;
    if (runtime.isSetAside) return false;
    return owner.type === 'global' || this.#deps.registry.isEnabled(owner.module);
  }

  /** The task that gives a hook the initial state of a binding. */
  synchronizationRun(runtime: HookRuntime, binding: KubernetesBinding, activation: string): Task {
    const reason: RunReason = { type: 'synchronization', binding };
    return { ...this.#hookRun(runtime, binding, reason, 'Synchronization'), activation };
  }

  /** Who waits for the Synchronization runs of a hook's owner. */
  synchronizationOf(owner: HookOwner): Synchronization | undefined {
    return owner.type === 'global'
      ? this.#deps.globalHooks.synchronization
      : this.#deps.registry.tracked.get(owner.module)?.synchronization;
  }

  /** Reconciles a module again although nothing may have changed; one that is to be deleted is deleted. */
  recheck(module: ModuleName, trigger: string): void {
    if (this.#deps.registry.isWanted(module)) {
      if (!this.isRunPending(module))
        this.main.append({ ...this.moduleRun(module, trigger), isRecheck: true });
    } else if (this.isDeletionIdle(module)) {
      this.main.append({ type: 'ModuleDelete', module, trigger });
    }
  }

  /** Whether a recheck of a module would do something now: a deletion that is queued is retried at a time of its own. */
  takesRecheck(module: ModuleName): boolean {
    return this.#deps.registry.isWanted(module) || this.isDeletionIdle(module);
  }

  /** Whether a module that is not enabled is still to be deleted. */
  isDeletionPending(module: ModuleName): boolean {
    return this.#deps.registry.isDeletionPending(module) || this.#isDeletionQueued(module);
  }

  /** Whether a module is still to be deleted, and no task does it: a flow hook ended its deletion. */
  isDeletionIdle(module: ModuleName): boolean {
    return this.#deps.registry.isDeletionPending(module) && !this.#isDeletionQueued(module);
  }

  #isDeletionQueued(module: ModuleName): boolean {
    return this.#deps.queues.all.some(({ entries }) =>
      entries.some(({ task }) => task.type === 'ModuleDelete' && task.module === module),
    );
  }

  #append(task: HookTask): void {
    if (!this.held.join(task)) appendToOwnQueue(this.#deps, task);
  }

  #hookRun(
    hook: HookRuntime,
    binding: KubernetesBinding | ScheduleBinding,
    reason: RunReason,
    trigger: string,
  ): HookTask {
    const { type, allowFailure } = binding;
    return hookTask({ hook, binding: type, reasons: [reason], allowFailure, trigger, activation: '' });
  }

  #dropConverge(): boolean {
    const first = this.main.entries.findIndex(({ task }) => task.type === 'ConvergeModules');
    if (first < 0) return false;
    const isBegun = first > 0 || this.#deps.converge.phase !== 'standby';
    const dropped = [...this.main.remove((task, index) => index <= first && isConvergeTask(task))];
    for (const queue of this.#deps.queues.all)
      if (queue.name.startsWith(PARALLEL_QUEUE_PREFIX)) dropped.push(...queue.remove(isConvergeTask));
    this.missRuns(dropped);
    return isBegun;
  }
}
