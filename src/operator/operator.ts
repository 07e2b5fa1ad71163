import type { RunReason } from '../hooks/binding-context.ts';
import type { HookOwner } from '../hooks/hook.ts';
import type { KubernetesBinding, ScheduleBinding } from '../hooks/hook-config.ts';
import type { KubernetesEvent } from '../hooks/kubernetes-binding.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ChangeCounts } from './change-counts.ts';
import { appendHookRun } from './compact-queue.ts';
import type { ConvergePhase } from './converge.ts';
import type { HookRuntime } from './hook-runtime.ts';
import { missRuns } from './missed-events.ts';
import { ModuleOperations } from './module-operations.ts';
import type { ModuleRegistry } from './module-registry.ts';
import { ModuleTurns } from './module-turns.ts';
import type { OperatorDeps } from './operator-deps.ts';
import { PARALLEL_QUEUE_PREFIX } from './parallel-runs.ts';
import type { HeldPurge } from './purge-guard.ts';
import { Requeues } from './requeues.ts';
import { RunAborts } from './run-aborts.ts';
import { Synchronization } from './synchronization.ts';
import { originFields } from './task-origin.ts';
import {
  type ConvergeEvent,
  type HookTask,
  hookTask,
  isConvergeTask,
  type ModuleRun,
  type Task,
  type TaskOrigin,
} from './tasks.ts';

export const MAIN_QUEUE = 'main';

export type ConvergeProgress = 'not-started' | 'running' | 'done';

/** What the operator remembers, and the few moves that several tasks share. */
export class Operator {
  readonly deps: OperatorDeps;
  readonly registry: ModuleRegistry;
  readonly globalSynchronization = new Synchronization();
  readonly turns = new ModuleTurns();
  readonly operations: ModuleOperations;
  readonly aborts = new RunAborts();
  readonly changes = new ChangeCounts();
  readonly requeues: Requeues;
  /** Paused modules that were to be run meanwhile. */
  readonly owedRuns = new Set<ModuleName>();
  globalHooks: readonly HookRuntime[] = [];
  /** Global hooks that a converge left out because they wait for a permission. */
  readonly skippedHooks = new Set<HookRuntime>();
  /** Whether releases without a module may be removed; they are looked for once, after the first converge. */
  purge: 'undecided' | 'decided' | HeldPurge = 'undecided';
  convergePhase: ConvergePhase = 'standby';
  firstConverge: ConvergeProgress = 'not-started';
  readonly #firstConvergeDone = Promise.withResolvers<void>();
  /** When the converge in progress began, and for what; one that is started over is the same one. */
  convergeStart: { readonly atMs: number; readonly event: ConvergeEvent } | undefined;
  /** The ConfigMap can be read, but what it says does not match the schemas; older values stay in force. */
  isConfigRefused = false;
  /** Why the ConfigMap cannot be read at all; undefined while it can. */
  configProblem: string | undefined;
  /** Development only: what of the files that changed last could not be loaded, in words. */
  unloaded: string[] = [];

  constructor(deps: OperatorDeps, registry: ModuleRegistry) {
    this.deps = deps;
    this.registry = registry;
    this.operations = new ModuleOperations(deps.operationSource);
    this.requeues = new Requeues({
      clock: deps.clock,
      onDue: (module) => this.recheck(module, 'Reconcile-Requeue'),
    });
  }

  /** Resolves when the first converge is over. */
  get firstConvergeDone(): Promise<void> {
    return this.#firstConvergeDone.promise;
  }

  finishFirstConverge(): void {
    this.firstConverge = 'done';
    this.#firstConvergeDone.resolve();
  }

  get main() {
    return this.deps.queues.get(MAIN_QUEUE);
  }

  /**
   * Queues a ModuleRun at the end of `main`. Does nothing if one is already queued for this module; a run in progress does
   * not count, because it may have started before the change.
   */
  queueModuleRun(module: ModuleName, trigger: string, origin: TaskOrigin = {}): void {
    if (!this.registry.isEnabled(module)) return;
    this.changes.note(module);
    if (this.isModuleRunPending(module)) {
      const fields = { 'task.flow': 'noop', module, trigger, ...originFields(origin) };
      this.deps.log.info(fields, 'module values are changed, ModuleRun task already queued');
      return;
    }
    this.main.append({ ...this.moduleRun(module, trigger), ...origin });
  }

  /** Whether a ModuleRun waits somewhere that will bring everything as it is now into force. */
  isModuleRunPending(module: ModuleName): boolean {
    return this.isRunPending(module, (task) => task.isRecheck !== true);
  }

  /** Whether a ModuleRun waits somewhere, of whatever kind; one at work counts not. */
  isRunPending(module: ModuleName, isWanted: (task: ModuleRun) => boolean = () => true): boolean {
    return this.deps.queues.all.some((queue) =>
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
    const doModuleStartup = this.registry.stateOf(module)?.phase === 'startup';
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
    const started = this.registry.started;
    this.main.remove((task) => task.type === 'ModuleDelete' && started.has(task.module));
    this.convergePhase = 'standby';
    if (isInterrupted) this.main.prepend(converge);
    else this.main.append(converge);
  }

  /** Removes tasks of hooks from all queues; one that runs now goes on to its end, but not again. */
  dropTasksOf(runtimes: readonly HookRuntime[]): void {
    for (const queue of this.deps.queues.all) {
      queue.remove((task) => 'hook' in task && runtimes.includes(task.hook));
    }
  }

  /** To be called with tasks that are dropped while they may be needed again: what their hooks miss comes later. */
  missRuns(dropped: readonly Task[]): void {
    missRuns(dropped, this.deps.queues, ({ hook }) => this.synchronizationOf(hook.owner));
  }

  /** Turns a watch event into a task in the binding's queue. */
  onKubernetesEvent(runtime: HookRuntime, binding: KubernetesBinding, event: KubernetesEvent): void {
    const reason: RunReason = { type: 'event', binding, event };
    appendHookRun(this.deps, this.#hookRun(runtime, binding, reason, 'Kubernetes'), binding.queue);
    this.deps.backlog.relieve();
  }

  /** Turns a tick of a crontab into a task in the binding's queue; before the first converge is over it is ignored. */
  onScheduleTick(runtime: HookRuntime, binding: ScheduleBinding): void {
    const { owner } = runtime.hook;
    if (this.firstConverge !== 'done' || runtime.isStopped || !runtime.areSchedulesEnabled) return;
    if (runtime.isSetAside) return;
    if (owner.type === 'module' && !this.registry.isEnabled(owner.module)) return;
    const reason: RunReason = { type: 'schedule', binding };
    appendHookRun(this.deps, this.#hookRun(runtime, binding, reason, 'Schedule'), binding.queue);
  }

  /** The task that gives a hook the initial state of a binding. */
  synchronizationRun(runtime: HookRuntime, binding: KubernetesBinding, activation: string): Task {
    const reason: RunReason = { type: 'synchronization', binding };
    return { ...this.#hookRun(runtime, binding, reason, 'Synchronization'), activation };
  }

  /** Who waits for the Synchronization runs of a hook's owner. */
  synchronizationOf(owner: HookOwner): Synchronization | undefined {
    return owner.type === 'global'
      ? this.globalSynchronization
      : this.registry.states.get(owner.module)?.synchronization;
  }

  /** `OperatorStartup` until the first converge is over, then empty. */
  get activation(): string {
    return this.firstConverge === 'done' ? '' : 'OperatorStartup';
  }

  /** Reconciles a module again although nothing may have changed; one that is to be deleted is deleted. */
  recheck(module: ModuleName, trigger: string): void {
    if (this.registry.isWanted(module)) {
      if (!this.isRunPending(module))
        this.main.append({ ...this.moduleRun(module, trigger), isRecheck: true });
    } else if (this.registry.isDeletionPending(module) && !this.#isDeletionQueued(module)) {
      this.main.append({ type: 'ModuleDelete', module, trigger });
    }
  }

  #isDeletionQueued(module: ModuleName): boolean {
    return this.deps.queues.all.some(({ entries }) =>
      entries.some(({ task }) => task.type === 'ModuleDelete' && task.module === module),
    );
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
    const isBegun = first > 0 || this.convergePhase !== 'standby';
    const dropped = [...this.main.remove((task, index) => index <= first && isConvergeTask(task))];
    for (const queue of this.deps.queues.all)
      if (queue.name.startsWith(PARALLEL_QUEUE_PREFIX)) dropped.push(...queue.remove(isConvergeTask));
    this.missRuns(dropped);
    return isBegun;
  }
}
