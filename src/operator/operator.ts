import type { RunReason } from '../hooks/binding-context.ts';
import type { HookOwner } from '../hooks/hook.ts';
import type { KubernetesBinding, ScheduleBinding } from '../hooks/hook-config.ts';
import type { KubernetesEvent } from '../hooks/kubernetes-binding.ts';
import type { Discovery } from '../modules/discovery.ts';
import type { Module } from '../modules/module.ts';
import { inRunOrder } from '../modules/run-order.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ChangeCounts } from './change-counts.ts';
import { appendHookRun } from './compact-queue.ts';
import type { ConvergePhase } from './converge.ts';
import type { HookRuntime } from './hook-runtime.ts';
import { missRuns } from './missed-events.ts';
import { ModuleOperations } from './module-operations.ts';
import { isStarted, type ModuleState, newModuleState } from './module-state.ts';
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
  readonly moduleStates = new Map<ModuleName, ModuleState>();
  readonly globalSynchronization = new Synchronization();
  readonly turns = new ModuleTurns();
  readonly operations: ModuleOperations;
  readonly aborts = new RunAborts();
  readonly changes = new ChangeCounts();
  readonly requeues: Requeues;
  /** Why modules are not authorized, as it was told last. */
  refusals: ReadonlyMap<ModuleName, string> = new Map();
  /** Paused modules that were to be run meanwhile. */
  readonly owedRuns = new Set<ModuleName>();
  globalHooks: readonly HookRuntime[] = [];
  /** Global hooks that a converge left out because they wait for a permission. */
  readonly skippedHooks = new Set<HookRuntime>();
  /** Enabled modules in run order, with the reasons; undefined before the first discovery. */
  discovery: Discovery | undefined;
  /** Modules that ran, or had a release of ours, at the last discovery. */
  deployed: ReadonlySet<ModuleName> = new Set();
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
  #modules: readonly Module[] = [];

  constructor(deps: OperatorDeps, modules: readonly Module[]) {
    this.deps = deps;
    this.operations = new ModuleOperations(deps.operationSource);
    this.requeues = new Requeues({
      clock: deps.clock,
      onDue: (module) => this.recheck(module, 'Reconcile-Requeue'),
    });
    this.setModules(modules);
  }

  /** Resolves when the first converge is over. */
  get firstConvergeDone(): Promise<void> {
    return this.#firstConvergeDone.promise;
  }

  finishFirstConverge(): void {
    this.firstConverge = 'done';
    this.#firstConvergeDone.resolve();
  }

  /** All known modules, in run order. */
  get modules(): readonly Module[] {
    return this.#modules;
  }

  get enabledModules(): readonly ModuleName[] {
    return this.discovery?.enabled ?? [];
  }

  /** Modules of which anything was started that has to be ended before they are disabled. */
  get startedModules(): ReadonlySet<ModuleName> {
    const states = [...this.moduleStates.values()];
    return new Set(states.filter(isStarted).map((state) => state.module.name));
  }

  get main() {
    return this.deps.queues.get(MAIN_QUEUE);
  }

  setModules(modules: readonly Module[]): void {
    this.#modules = inRunOrder(modules);
    for (const module of modules) {
      const state = this.moduleStates.get(module.name);
      if (state !== undefined) state.module = module;
    }
  }

  isEnabled(module: ModuleName): boolean {
    return this.enabledModules.includes(module);
  }

  /**
   * Whether tasks of a module are still to be run: it was found enabled, and no flag has disabled it since. Without
   * looking at flags, a failing task of a module just disabled would hold up the converge that ends it.
   */
  isWanted(module: ModuleName): boolean {
    if (!this.isEnabled(module)) return false;
    return this.isProtected(module) || !this.deps.isFlaggedOff(module);
  }

  /** Whether a module is enabled only because its deletion policy forbids to delete it. */
  isProtected(module: ModuleName): boolean {
    return this.discovery?.decisions.get(module)?.source === 'deletion-policy';
  }

  /** The state of a known module, made when it is first asked for. */
  stateOf(name: ModuleName): ModuleState | undefined {
    const known = this.moduleStates.get(name);
    if (known !== undefined) return known;
    const module = this.#modules.find((other) => other.name === name);
    if (module === undefined) return undefined;
    const state = newModuleState(module);
    this.moduleStates.set(name, state);
    return state;
  }

  /**
   * Queues a ModuleRun at the end of `main`. Does nothing if one is already queued for this module; a run in progress does
   * not count, because it may have started before the change.
   */
  queueModuleRun(module: ModuleName, trigger: string, origin: TaskOrigin = {}): void {
    if (!this.isEnabled(module)) return;
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
    const doModuleStartup = this.stateOf(module)?.phase === 'startup';
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
    const started = this.startedModules;
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
    if (owner.type === 'module' && !this.isEnabled(owner.module)) return;
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
      : this.moduleStates.get(owner.module)?.synchronization;
  }

  /** `OperatorStartup` until the first converge is over, then empty. */
  get activation(): string {
    return this.firstConverge === 'done' ? '' : 'OperatorStartup';
  }

  /** Reconciles a module again although nothing may have changed; one that is to be deleted is deleted. */
  recheck(module: ModuleName, trigger: string): void {
    if (this.isWanted(module)) {
      if (!this.isRunPending(module))
        this.main.append({ ...this.moduleRun(module, trigger), isRecheck: true });
    } else if (this.isDeletionPending(module) && !this.#isDeletionQueued(module)) {
      this.main.append({ type: 'ModuleDelete', module, trigger });
    }
  }

  /** Whether there is something of a module that is not enabled which is still to be ended. */
  isDeletionPending(module: ModuleName): boolean {
    const state = this.moduleStates.get(module);
    if (state === undefined || this.isEnabled(module)) return false;
    return isStarted(state) || state.pendingWork === 'deletion';
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
