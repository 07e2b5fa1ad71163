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
import { bindingOf, type LateTick, LateTicks, ticksIn } from './late-ticks.ts';
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
 * Counts the changes of each module. A queued run also serves later changes, so the tasks in the
 * queues do not show whether a change came before or after an abort was requested. The counts do.
 */
class ChangeCounts {
  readonly #counts = new Map<ModuleName, number>();
  readonly #atAbort = new Map<ModuleName, number>();

  /** A run of the module is necessary. */
  note(module: ModuleName): void {
    this.#counts.set(module, this.#countOf(module) + 1);
  }

  /** An abort is requested: it covers all changes until now. */
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
 * Turns events, ticks of crontabs and changes of modules into tasks, and puts each into its queue.
 * Monitors (`hook-parts.ts`), schedules, changes of the ConfigMap and handlers call it; it runs
 * nothing itself. The queues take the tasks from here, and `operator/task-pipeline.ts` runs each
 * attempt. A run that must wait, for `retryAfter` or for the debounce of its binding, goes to
 * {@link HeldRuns} instead, and later runs of that hook join it there to keep the order of events.
 */
export class TaskRouter {
  readonly #deps: TaskRouterDeps;
  readonly changes = new ChangeCounts();
  readonly requeues: Requeues;
  /** Hook runs that wait outside of their queues, so that they block no other run. */
  readonly held: HeldRuns;
  readonly failedScripts: FailedScripts;
  readonly lateTicks = new LateTicks();

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

  /** The queue that runs modules, one task after another. */
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

  /**
   * Whether a ModuleRun is queued that will apply all current changes. A recheck does not count: it
   * may do nothing.
   */
  isModuleRunPending(module: ModuleName): boolean {
    return this.isRunPending(module, (task) => task.isRecheck !== true);
  }

  /** Whether a ModuleRun of any kind is queued; a run in progress does not count. */
  isRunPending(module: ModuleName, isWanted: (task: ModuleRun) => boolean = () => true): boolean {
    return this.#deps.queues.all.some((queue) =>
      queue.entries.some((entry) => {
        const { task } = entry;
        // Members of a group are queued by themselves only when the group is spread.
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
   * Starts the converge over. The rest of a converge in progress is dropped, up to its
   * ConvergeModules task, and the new task goes to the head; without one in progress it goes to the
   * end of `main`. Queued deletions of started modules are dropped in any case, because the new
   * converge plans them again: a failing one would keep it from enabling the module.
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

  /**
   * Removes tasks of hooks from all queues. A running task is not interrupted, but it is not
   * retried.
   */
  dropTasksOf(runtimes: readonly HookRuntime[]): readonly LateTick[] {
    const isOwn = (task: Task): boolean => 'hook' in task && runtimes.includes(task.hook);
    const dropped = this.#deps.queues.all.flatMap((queue) => queue.remove(isOwn));
    const runs = dropped.filter((task): task is HookTask => 'reasons' in task);
    return ticksIn([...runs, ...this.held.take(runtimes)]);
  }

  /** Queues the ticks that were dropped when this version of a module took over. */
  serveLateTicks(module: ModuleName, runtimes: readonly HookRuntime[]): void {
    for (const tick of this.lateTicks.take(module)) {
      const found = bindingOf(tick, runtimes);
      if (found !== undefined) this.onScheduleTick(found.runtime, found.binding);
      else
        this.#deps.log.warn(
          { module, ...tick },
          'a tick of a schedule is dropped: the new version of the module has no such binding',
        );
    }
  }

  /**
   * Called with dropped tasks whose modules may be needed again: their Synchronizations and events
   * are kept, see {@link missRuns}.
   */
  missRuns(dropped: readonly Task[]): void {
    missRuns(dropped, this.#deps.queues, ({ hook }) => this.synchronizationOf(hook.owner), this.held);
  }

  /** Turns a watch event into a task in the binding's queue. */
  onKubernetesEvent(runtime: HookRuntime, binding: KubernetesBinding, event: KubernetesEvent): void {
    const reason: RunReason = { type: 'event', binding, event };
    const task = this.#hookRun(runtime, binding, reason, 'Kubernetes');
    const { debounce } = binding;
    // Events of a binding with `debounce` wait outside of the queue until no further one arrives.
    if (debounce === undefined) this.#append(task);
    else if (!this.held.join(task)) this.held.debounce(task, binding, debounce);
    // The event has been counted by now: above the limit, older events of the same objects are
    // dropped.
    this.#deps.backlog.relieve();
  }

  /** Turns a tick of a crontab into a task in the binding's queue; before the first converge is over it is ignored. */
  onScheduleTick(runtime: HookRuntime, binding: ScheduleBinding): void {
    if (!this.takesTicks(runtime)) return;
    const reason: RunReason = { type: 'schedule', binding };
    this.#append(this.#hookRun(runtime, binding, reason, 'Schedule'));
  }

  /**
   * Whether ticks of the hook's crontabs become tasks now. Before the first converge the values are
   * incomplete.
   */
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

  /** The pending Synchronizations of the hook's owner. */
  synchronizationOf(owner: HookOwner): Synchronization | undefined {
    return owner.type === 'global'
      ? this.#deps.globalHooks.synchronization
      : this.#deps.registry.tracked.get(owner.module)?.synchronization;
  }

  /**
   * Reconciles a module without a known change: runs it if it is enabled, deletes it if its
   * deletion is pending.
   */
  recheck(module: ModuleName, trigger: string): void {
    if (this.#deps.registry.isWanted(module)) {
      if (!this.isRunPending(module))
        this.main.append({ ...this.moduleRun(module, trigger), isRecheck: true });
    } else if (this.isDeletionIdle(module)) {
      this.main.append({ type: 'ModuleDelete', module, trigger });
    }
  }

  /**
   * Whether a recheck of a module would have an effect now: a queued deletion is retried at its own
   * time.
   */
  takesRecheck(module: ModuleName): boolean {
    return this.#deps.registry.isWanted(module) || this.isDeletionIdle(module);
  }

  /** Whether the deletion of a module that is not enabled is incomplete. */
  isDeletionPending(module: ModuleName): boolean {
    return this.#deps.registry.isDeletionPending(module) || this.#isDeletionQueued(module);
  }

  /** Whether a deletion is incomplete and no task continues it, because a flow hook ended it. */
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
    // At the head in standby, the converge has not begun: it is replaced, but nothing was
    // interrupted.
    const isBegun = first > 0 || this.#deps.converge.phase !== 'standby';
    const dropped = [...this.main.remove((task, index) => index <= first && isConvergeTask(task))];
    // Runs of its modules may already be spread over the parallel queues.
    for (const queue of this.#deps.queues.all)
      if (queue.name.startsWith(PARALLEL_QUEUE_PREFIX)) dropped.push(...queue.remove(isConvergeTask));
    this.missRuns(dropped);
    return isBegun;
  }
}
