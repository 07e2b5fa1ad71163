// The state machine of one module: a pure function of the previous state and an event, called by
// `TrackedModule.apply` only. The stages are starting, synchronizing, deploying and ready. A failed
// or stalled run keeps its stage, so that the next one continues there; a deletion keeps the
// interrupted state until parts of the module are gone.

import type { ErrorCode } from '@addon-operator/base/errors';
import type { HookRuntime } from './hook-runtime.ts';

type Hooks = readonly HookRuntime[];

/** Requests the configuration of hooks, then runs onStartup hooks. */
interface Starting {
  readonly type: 'starting';
  /** In name order; undefined until their configuration was requested. */
  readonly hooks: Hooks | undefined;
}

/** Monitors start, then hooks see the initial state. */
interface Synchronizing {
  readonly type: 'synchronizing';
  readonly hooks: Hooks;
  readonly areMonitorsStarted: boolean;
}

/** Schedules are registered, then beforeHelm hooks, helm and afterHelm hooks run. */
interface Deploying {
  readonly type: 'deploying';
  readonly hooks: Hooks;
  /** A run came to its end before, but its afterHelm hooks changed values. */
  readonly hasSucceeded: boolean;
  /** The last attempt failed here. */
  readonly hasDeployFailed: boolean;
}

/** A run came to its end with the values it began with. The next one does what is done while deploying. */
interface Ready {
  readonly type: 'ready';
  readonly hooks: Hooks;
  /** The last attempt failed while deploying. */
  readonly hasDeployFailed: boolean;
}

/** How far a module has come: here its next run begins, or continues. A new module goes through all stages once. */
export type ModuleStage = Starting | Synchronizing | Deploying | Ready;

/** The last run failed and is retried; the stage where it continues. */
interface Failed {
  readonly type: 'failed';
  readonly at: ModuleStage;
}

/** The last run failed for good. It is not retried until something changes. */
interface Stalled {
  readonly type: 'stalled';
  readonly at: ModuleStage;
  readonly stall: Stall;
}

type Enabled = ModuleStage | Failed | Stalled;

/** A deletion was requested and is not complete. */
interface Deleting {
  readonly type: 'deleting';
  /** The state in which a run continues if the module is enabled again. */
  readonly interrupted: Enabled;
}

/**
 * Requests that a reconcile has not completed. They are recorded before a flow hook can end the
 * reconcile, so that a hook that defers it cannot lose them.
 */
interface Pending {
  /** A change or a request has to be applied by a run; never while a deletion is pending. */
  readonly isRunPending: boolean;
  /** Helm has to apply the chart although nothing has changed, by the next run that succeeds. */
  readonly isForcePending: boolean;
}

/** The state that tasks of a module decide by. Only {@link transition} creates the next one. */
export type ModuleState = (Enabled | Deleting) & Pending;

/** Why a run failed for good. */
export interface Stall {
  readonly error: string;
  /** The code of that error; absent where it has none. */
  readonly code?: ErrorCode;
  /** It is tried again when a module that it requires has succeeded. */
  readonly isByRequirement: boolean;
}

type StageEvent =
  /** Its hooks returned their configuration. */
  | { readonly type: 'hooks-loaded'; readonly hooks: Hooks }
  /** The onStartup hooks have run. */
  | { readonly type: 'startup-done' }
  | { readonly type: 'monitors-started' }
  /** The hooks have seen the initial state. */
  | { readonly type: 'synchronized' }
  /** Something between the beforeHelm and the afterHelm hooks failed. */
  | { readonly type: 'deploy-failed' };

/** The events of a module. */
export type ModuleEvent =
  | StageEvent
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
  type: 'starting',
  hooks: undefined,
  isRunPending: false,
  isForcePending: false,
};

/** The state after an event. An event that does not belong to the stage of the module changes nothing. */
export function transition(state: ModuleState, event: ModuleEvent): ModuleState {
  const { isRunPending, isForcePending, ...now } = state;
  const pending: Pending = { isRunPending, isForcePending };
  switch (event.type) {
    case 'hooks-loaded':
    case 'startup-done':
    case 'monitors-started':
    case 'synchronized':
    case 'deploy-failed':
      return { ...withStage(now, nextStage(stageOf(now), event)), ...pending };
    case 'run-succeeded': {
      const stage = stageOf(now);
      if (stage.type === 'starting' || stage.type === 'synchronizing') return state;
      return { ...succeeded(stage, event.isRepeated), isRunPending: false, isForcePending: false };
    }
    case 'run-failed':
      return { ...withEnabled(now, failed), ...pending };
    case 'run-stalled':
      // The request stays pending only for helm: a stalled run waits for a change, which requests a
      // run.
      return { type: 'stalled', at: stageOf(now), stall: event.stall, isRunPending: false, isForcePending };
    case 'run-aborted':
      return {
        type: 'stalled',
        at: stageOf(now),
        stall: event.stall,
        isRunPending: false,
        isForcePending: false,
      };
    case 'run-requested':
      return { ...enabledOf(now), isRunPending: true, isForcePending };
    case 'recheck-requested':
      // A deferred deletion is obsolete once the module is enabled again: it starts from its
      // beginning instead.
      return now.type === 'deleting' ? transition(state, { type: 'run-requested' }) : state;
    case 'deletion-requested':
      return { type: 'deleting', interrupted: enabledOf(now), isRunPending: false, isForcePending };
    case 'force-requested':
      return { ...state, isForcePending: true };
    case 'attempt-started':
      return {
        // A new attempt leaves the stalled state, else the module would be shown as stalled while
        // it runs.
        ...withEnabled(now, (enabled) => (enabled.type === 'stalled' ? failed(enabled.at) : enabled)),
        ...pending,
      };
    case 'deletion-started': {
      const interrupted = { type: 'starting', hooks: hooksOf(state) } as const;
      return { type: 'deleting', interrupted, isRunPending: false, isForcePending: false };
    }
  }
}

function nextStage(stage: ModuleStage, event: StageEvent): ModuleStage {
  switch (event.type) {
    case 'hooks-loaded':
      return stage.type === 'starting' ? { type: 'starting', hooks: event.hooks } : stage;
    case 'startup-done':
      if (stage.type !== 'starting' || stage.hooks === undefined) return stage;
      return { type: 'synchronizing', hooks: stage.hooks, areMonitorsStarted: false };
    case 'monitors-started':
      return stage.type === 'synchronizing' ? { ...stage, areMonitorsStarted: true } : stage;
    case 'synchronized':
      if (stage.type !== 'synchronizing' || !stage.areMonitorsStarted) return stage;
      return { type: 'deploying', hooks: stage.hooks, hasSucceeded: false, hasDeployFailed: false };
    case 'deploy-failed':
      return 'hasDeployFailed' in stage ? { ...stage, hasDeployFailed: true } : stage;
  }
}

function succeeded({ type, hooks }: Deploying | Ready, isRepeated: boolean): ModuleStage {
  if (type === 'deploying' && isRepeated)
    return { type: 'deploying', hooks, hasSucceeded: true, hasDeployFailed: false };
  return { type: 'ready', hooks, hasDeployFailed: false };
}

function failed(enabled: Enabled): Failed | Stalled {
  return enabled.type === 'stalled' || enabled.type === 'failed' ? enabled : { type: 'failed', at: enabled };
}

function withStage(now: Enabled | Deleting, stage: ModuleStage): Enabled | Deleting {
  return withEnabled(now, (enabled) =>
    enabled.type === 'failed' || enabled.type === 'stalled' ? { ...enabled, at: stage } : stage,
  );
}

function withEnabled(now: Enabled | Deleting, change: (enabled: Enabled) => Enabled): Enabled | Deleting {
  return now.type === 'deleting' ? { ...now, interrupted: change(now.interrupted) } : change(now);
}

function enabledOf(now: Enabled | Deleting): Enabled {
  return now.type === 'deleting' ? now.interrupted : now;
}

/** The stage in which a run of the module begins, or continues. */
export function stageOf(now: Enabled | Deleting): ModuleStage {
  const enabled = enabledOf(now);
  return enabled.type === 'failed' || enabled.type === 'stalled' ? enabled.at : enabled;
}

/** In name order; undefined until their configuration was requested. */
export function hooksOf(state: ModuleState): Hooks | undefined {
  return stageOf(state).hooks;
}

/**
 * Why the module is not retried until something changes; undefined while it is retried or does not
 * have to be.
 */
export function stallOf(state: ModuleState): Stall | undefined {
  const enabled = enabledOf(state);
  return enabled.type === 'stalled' ? enabled.stall : undefined;
}

/**
 * Whether a run is needed: one is pending, or the last one neither succeeded nor failed for good.
 */
export function isUnfinished({ type, isRunPending }: ModuleState): boolean {
  return isRunPending || (type !== 'ready' && type !== 'stalled');
}

/** Whether anything of the module was started that has to be ended before it is disabled. */
export function isStarted(state: ModuleState): boolean {
  const { type, hooks } = stageOf(state);
  return type !== 'starting' || hooks !== undefined;
}

/** Whether the module ran to its end since it was enabled, and has not failed since. */
export function isDeployed(state: ModuleState): boolean {
  const enabled = enabledOf(state);
  return enabled.type === 'ready' || (enabled.type === 'deploying' && enabled.hasSucceeded);
}

/** Whether the module ran to its end at least once since it was enabled. */
export function hasBeenReady(state: ModuleState): boolean {
  const stage = stageOf(state);
  return stage.type === 'ready' || (stage.type === 'deploying' && stage.hasSucceeded);
}

/** Whether the last attempt failed between the beforeHelm and the afterHelm hooks. */
export function hasDeployFailed(state: ModuleState): boolean {
  const stage = stageOf(state);
  return 'hasDeployFailed' in stage && stage.hasDeployFailed;
}

/**
 * Whether the onStartup hooks run again before helm: until the first complete success after it was
 * enabled, a retry begins with them. Synchronization is not repeated, since the monitors run
 * already.
 */
export function mustRepeatStartup(state: ModuleState): boolean {
  const stage = stageOf(state);
  return stage.type === 'deploying' && stage.hasDeployFailed && !stage.hasSucceeded;
}

/** The stage in the words of explain, status and logs. */
export type ModuleStageName = 'startup' | 'synchronization' | 'wait-for-synchronization' | 'helm' | 'ready';

export function phaseOf(state: ModuleState): ModuleStageName {
  const stage = stageOf(state);
  switch (stage.type) {
    case 'starting':
      return 'startup';
    case 'synchronizing':
      return stage.areMonitorsStarted ? 'wait-for-synchronization' : 'synchronization';
    case 'deploying':
      return 'helm';
    case 'ready':
      return 'ready';
  }
}
