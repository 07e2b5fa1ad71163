import type { ErrorCode } from '../lib/errors.ts';
import type { HookRuntime } from './hook-runtime.ts';

/**
 * How far a module has come. A new module goes through all phases once; a later ModuleRun begins at `helm`.
 * `startup`: hooks are asked for their configuration and onStartup hooks run. `synchronization`: monitors start.
 * `wait-for-synchronization`: hooks see the initial state. `helm`: schedules are registered, then beforeHelm hooks, helm,
 * afterHelm hooks. `ready`: the last run succeeded.
 */
export type ModulePhase = 'startup' | 'synchronization' | 'wait-for-synchronization' | 'helm' | 'ready';

/** What the tasks of a module decide by. It is never changed: an event leads to the next one. */
export interface ModuleState {
  readonly phase: ModulePhase;
  /** In name order; undefined until they were asked for their configuration. */
  readonly hooks: readonly HookRuntime[] | undefined;
  /** Since it was enabled, the module ran to its end at least once. */
  readonly hasSucceeded: boolean;
  /** The last run failed in the phase `helm`. */
  readonly hasHelmFailed: boolean;
  /** The last run failed, wherever. */
  readonly hasFailed: boolean;
  /** Why it is not tried again until something changes; undefined while it is, or need not be. */
  readonly stall: Stall | undefined;
  /** The pending change or request, until a reconcile completes it. */
  readonly pendingWork: PendingWork;
  /** Helm is to apply the chart although nothing has changed, by the next run that succeeds. */
  readonly isForcePending: boolean;
}

/**
 * Work on a module that is not done yet. It is recorded before any flow hook can end the reconcile, so that a hook that
 * puts it off cannot lose it.
 */
export type PendingWork = 'none' | 'run' | 'deletion';

/** A run that failed for good. */
export interface Stall {
  readonly error: string;
  /** The code of that error; absent where it has none. */
  readonly code?: ErrorCode;
  /** It is tried again when a module that it requires has succeeded. */
  readonly isByRequirement: boolean;
}

/** What happens to a module. */
export type ModuleEvent =
  /** Its hooks returned their configuration. */
  | { readonly type: 'hooks-loaded'; readonly hooks: readonly HookRuntime[] }
  /** The onStartup hooks have run. */
  | { readonly type: 'startup-done' }
  | { readonly type: 'monitors-started' }
  /** The hooks have seen the initial state. */
  | { readonly type: 'synchronized' }
  /** Something between the beforeHelm and the afterHelm hooks failed. */
  | { readonly type: 'deploy-failed' }
  /** A run came to its end; with `isRepeated`, its afterHelm hooks changed values and another one follows. */
  | { readonly type: 'run-succeeded'; readonly isRepeated: boolean }
  /** A run failed and is tried again. */
  | { readonly type: 'run-failed' }
  /** A run failed for good. */
  | { readonly type: 'run-stalled'; readonly stall: Stall }
  /** A run was ended on request. */
  | { readonly type: 'run-aborted'; readonly stall: Stall }
  | { readonly type: 'run-requested' }
  /** A run came up that only looks whether something is pending. */
  | { readonly type: 'recheck-requested' }
  | { readonly type: 'deletion-requested' }
  /** Helm has to apply the chart although nothing has changed. */
  | { readonly type: 'force-requested' }
  /** A run or a deletion begins, after all flow hooks before it. */
  | { readonly type: 'attempt-started' }
  /** From here on parts of the module are gone: if it is enabled again, it starts from the beginning. */
  | { readonly type: 'deletion-started' };

export const NEW_MODULE: ModuleState = {
  phase: 'startup',
  hooks: undefined,
  hasSucceeded: false,
  hasHelmFailed: false,
  hasFailed: false,
  stall: undefined,
  pendingWork: 'none',
  isForcePending: false,
};

/** The state after an event. */
export function transition(state: ModuleState, event: ModuleEvent): ModuleState {
  switch (event.type) {
    case 'hooks-loaded':
      return { ...state, hooks: event.hooks };
    case 'startup-done':
      return { ...state, phase: 'synchronization' };
    case 'monitors-started':
      return { ...state, phase: 'wait-for-synchronization' };
    case 'synchronized':
      return { ...state, phase: 'helm' };
    case 'deploy-failed':
      return { ...state, hasHelmFailed: true };
    case 'run-succeeded':
      return {
        ...state,
        phase: event.isRepeated ? state.phase : 'ready',
        hasSucceeded: true,
        hasHelmFailed: false,
        hasFailed: false,
        pendingWork: 'none',
        isForcePending: false,
      };
    case 'run-failed':
      return { ...state, hasFailed: true };
    case 'run-stalled':
      return { ...state, hasFailed: true, stall: event.stall, pendingWork: 'none' };
    case 'run-aborted':
      return { ...state, hasFailed: true, stall: event.stall, pendingWork: 'none', isForcePending: false };
    case 'run-requested':
      return { ...state, pendingWork: 'run' };
    case 'recheck-requested':
      // A deletion that was put off is pointless once the module is enabled again: it starts anew instead.
      return state.pendingWork === 'none' ? state : { ...state, pendingWork: 'run' };
    case 'deletion-requested':
      return { ...state, pendingWork: 'deletion' };
    case 'force-requested':
      return { ...state, isForcePending: true };
    case 'attempt-started':
      return { ...state, stall: undefined };
    case 'deletion-started':
      return { ...NEW_MODULE, hooks: state.hooks, pendingWork: 'deletion' };
  }
}

/** Whether there is something to do: pending work, or a run that has not come to its end and did not fail for good. */
export function isUnfinished({ phase, hasFailed, stall, pendingWork }: ModuleState): boolean {
  if (pendingWork !== 'none') return true;
  return stall === undefined && (phase !== 'ready' || hasFailed);
}

/** Whether anything of the module was started that has to be ended before it is disabled. */
export function isStarted(state: ModuleState): boolean {
  return state.phase !== 'startup' || state.hooks !== undefined;
}

/** Whether the module ran to its end since it was enabled, and has not failed since. */
export function isDeployed({ hasSucceeded, hasFailed, stall }: ModuleState): boolean {
  return hasSucceeded && !hasFailed && stall === undefined;
}

/**
 * Whether the start-up hooks run (again) before helm: until the first complete success after it was enabled, a
 * module's retry begins with its onStartup hooks. Synchronization is not repeated, since the monitors run already.
 */
export function mustRepeatStartup(state: ModuleState): boolean {
  return state.hasHelmFailed && !state.hasSucceeded;
}
