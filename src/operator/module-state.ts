import type { FlowPass } from '../extensions/flow/flow-pass.ts';
import { type Clock, wallTimeOf } from '../lib/clock.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { Module } from '../modules/module.ts';
import type { HookRunFacts, ReleaseFacts } from '../status/module-facts.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import type { HookRuntime } from './hook-runtime.ts';
import { Synchronization } from './synchronization.ts';
import type { ConvergeEvent } from './tasks.ts';

/**
 * How far a module has come. A new module goes through all phases once; a later ModuleRun begins at `helm`.
 * `startup`: hooks are asked for their configuration and onStartup hooks run. `synchronization`: monitors start.
 * `wait-for-synchronization`: hooks see the initial state. `schedules`: crontabs are registered. `helm`: beforeHelm
 * hooks, helm, afterHelm hooks. `ready`: the last run succeeded.
 */
export type ModulePhase =
  | 'startup'
  | 'synchronization'
  | 'wait-for-synchronization'
  | 'schedules'
  | 'helm'
  | 'ready';

/** What the daemon remembers of a module while it is enabled. */
export interface ModuleState {
  /** As it was last read from disk. */
  module: Module;
  phase: ModulePhase;
  /** In name order; undefined until they were asked for their configuration. */
  hooks: readonly HookRuntime[] | undefined;
  synchronization: Synchronization;
  /** Since it was enabled, the module ran to its end at least once. */
  hasSucceeded: boolean;
  /** The last run failed in the phase `helm`. */
  hasHelmFailed: boolean;
  /** What the last run of helm was about, for metrics; empty for none of the events of a converge. */
  helmActivation: ConvergeEvent | '';
  /** It is noted on the release that it stays when the module is gone. */
  isReleaseKept: boolean;
  /** Why the last attempt failed; empty after a success. */
  lastError: string;
  /** Why it is not tried again until something changes; undefined while it is, or need not be. */
  givenUp: GivenUp | undefined;
  /** The pending change or request, until a reconcile completes it. */
  pendingWork: PendingWork;
  /** Helm is to apply the chart although nothing has changed, by the next run that succeeds. */
  isForcePending: boolean;
  /** When the last reconcile began that had something to do, in ms since the epoch; undefined before. */
  reconcileStartedMs: number | undefined;
  /** The reconcile whose task waits for others meanwhile, or is at work. */
  ongoing: OngoingReconcile | undefined;
  /** The last attempt of a ModuleRun that ended; undefined before. */
  lastRun: LastRun | undefined;
  /** What was deployed last; undefined before. */
  release: ReleaseFacts | undefined;
  /** The last run of each binding of its hooks, the newest first; at most ten. */
  hookRuns: readonly HookRunFacts[];
}

/**
 * Work on a module that is not done yet. It is recorded before any flow hook can end the reconcile, so that a hook that
 * puts it off cannot lose it.
 */
export type PendingWork = 'none' | 'run' | 'deletion';

/** A run that failed for good. */
export interface GivenUp {
  readonly error: string;
  /** The code of that error; absent where it has none. */
  readonly code?: ErrorCode;
  /** It is tried again when a module that it requires has succeeded. */
  readonly isByRequirement: boolean;
}

export interface OngoingReconcile {
  /** Its task, as it was first queued. */
  readonly task: object;
  readonly step: ReconcileStep;
  readonly operation: ModuleOperation | undefined;
  readonly flow: FlowPass;
}

/** What is done with a module in a reconcile: one of these. */
export type ReconcileStep = 'abort' | 'force-reconcile' | 'delete' | 'reconcile';

export interface LastRun {
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly result: 'success' | 'failure';
}

export function newModuleState(module: Module): ModuleState {
  return {
    module,
    phase: 'startup',
    hooks: undefined,
    synchronization: new Synchronization(),
    hasSucceeded: false,
    hasHelmFailed: false,
    helmActivation: '',
    isReleaseKept: false,
    lastError: '',
    givenUp: undefined,
    pendingWork: 'none',
    isForcePending: false,
    reconcileStartedMs: undefined,
    ongoing: undefined,
    lastRun: undefined,
    release: undefined,
    hookRuns: [],
  };
}

/** Records how the last attempt of a run ended. @param startedMs on the steady clock */
export function noteRun(
  state: ModuleState,
  startedMs: number,
  clock: Clock,
  result: LastRun['result'],
): void {
  const startedAtMs = wallTimeOf(startedMs, clock);
  state.lastRun = { startedAtMs, durationMs: Math.round(clock.steadyMs() - startedMs), result };
}

/** Whether there is something to do: pending work, or a run that has not come to its end and did not fail for good. */
export function isUnfinished({ phase, lastRun, givenUp, pendingWork }: ModuleState): boolean {
  if (pendingWork !== 'none') return true;
  return givenUp === undefined && (phase !== 'ready' || lastRun?.result === 'failure');
}

/** Whether anything of the module was started that has to be ended before it is disabled. */
export function isStarted(state: ModuleState): boolean {
  return state.phase !== 'startup' || state.hooks !== undefined;
}

/**
 * Whether the start-up hooks run (again) before helm: until the first complete success after it was enabled, a
 * module's retry begins with its onStartup hooks. Synchronization is not repeated, since the monitors run already.
 */
export function mustRepeatStartup(state: ModuleState): boolean {
  return state.hasHelmFailed && !state.hasSucceeded;
}
