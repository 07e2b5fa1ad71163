/**
 * The read side of the operator: everything that servers may show, as one interface. `views/` implements it, `server/` and
 * `status/` read it, tests replace it. Methods return plain data for one moment and never change anything; those that take
 * a signal may query the cluster.
 */

import type { JsonObject } from '@addon-operator/json';
import type { Journal } from '../journal/journal.ts';
import type { ModuleChanged } from './module-changed.ts';
import type { DeliveryState } from './module-delivery.ts';
import type {
  HookPatchView,
  HookSnapshots,
  HookView,
  LayeredValue,
  RevisionView,
  VersionView,
  WatchView,
} from './module-details.ts';
import type { ModuleDrift, ModuleExplanation, ModuleSummary } from './module-explanation.ts';
import type { NextItem } from './next-item.ts';
import type { OperatorStatus } from './operator-status.ts';
import type { ReleaseObjects } from './release-objects.ts';
import type { RunningHookFacts } from './running-hook.ts';
import type { TaskQueueView } from './task-queues.ts';
import type { UnfinishedRuns } from './unfinished-text.ts';

/** Everything the HTTP server and the debug endpoint show. They read through this and change nothing. */
export interface DaemonView {
  /** Whether the first converge is over; queries the leader when this replica is a standby. */
  readiness(signal: AbortSignal): ReplicaReadiness | Promise<ReplicaReadiness>;
  convergeStatus(): ConvergeStatus;
  /** The activity of the operator and the problems that hold it up. */
  status(): OperatorStatus;
  /** The hooks that run now, the longest running first. */
  runningHooks(): readonly RunningHookFacts[];
  /** All queues, also empty ones, in any order. */
  queues(): readonly QueueView[];
  /** Hook runs that are not finished and not in a queue: deferred, debounced or failed for good. */
  unfinishedRuns(): UnfinishedRuns;
  /** The same as data, `main` first, with at most so many tasks of each queue. */
  taskQueues(maxTasks: number): readonly TaskQueueView[];
  /** Different after each change of queues and runs; what changes without them, such as a pause, is not in it. */
  stateKey(): string;
  /** The last runs. */
  readonly journal: Pick<
    Journal,
    | 'list'
    | 'details'
    | 'event'
    | 'eventOf'
    | 'byModule'
    | 'changedSince'
    | 'followOutput'
    | 'revision'
    | 'marks'
  >;
  /** Things that happen within so many milliseconds at known times, the next first, at most `limit` of them. */
  next(withinMs: number, limit?: number): readonly NextItem[];
  /** Sources and the modules that come from them, see `delivery/delivery-view.ts`; empty without any. */
  delivery(): object;
  /** The same for people and the API. */
  deliveryState(): DeliveryState;
  /** Names of the enabled modules, in any order. */
  enabledModules(): readonly string[];
  /** All modules with their states, in run order. */
  modules(): readonly ModuleSummary[];
  /** All modules with what they require, in run order. */
  moduleGraph(): readonly GraphModule[];
  /** Everything about one module; undefined for an unknown name. */
  explainModule(name: string, signal: AbortSignal): Promise<ModuleExplanation | undefined>;
  /** Names of the global hooks, in any order. */
  globalHooks(): readonly string[];
  readonly global: SectionView;
  /** A module that was found, enabled or not; `undefined` for an unknown name. */
  module(name: string): ModuleView | undefined;
  /** Permissions that the patches of hooks have needed so far: group, resource, verbs, and the namespace if in one. */
  patchAccess(): readonly JsonObject[];
  /** The watches of the bindings of hooks. */
  watches(): readonly WatchView[];
  /** Objects that the resource monitors watch, by enabled module. */
  monitoredResources(signal: AbortSignal): MonitoredResources | Promise<MonitoredResources>;
}

/** The readiness of this replica. */
export type ReplicaReadiness =
  | {
      readonly type: 'converged' | 'converging';
      /** Sentences about snapshots that may be out of date; absent without any. */
      readonly warnings?: readonly string[];
    }
  | { readonly type: 'standby'; readonly leader: LeaderState };

/** The state of the leader, as a standby reads it from the leader's readiness probe. */
export type LeaderState = 'ready' | 'not-elected' | 'no-request' | 'unreachable' | 'not-ready';

/**
 * Progress of the first converge and of later ones; `tasks` counts what is still to do in the queue `main`, `isolated`
 * names the modules that fail, or failed for good, while other modules continue.
 */
export type ConvergeStatus =
  | { readonly type: 'not-started' }
  | { readonly type: 'first'; readonly tasks: number; readonly isolated?: readonly string[] }
  | { readonly type: 'done'; readonly tasks: number; readonly isolated?: readonly string[] };

/** One queue at one moment. */
export interface QueueView {
  readonly name: string;
  /** The activity of the worker, such as `run first task`; empty between two tasks, and before there is a worker. */
  readonly status: string;
  /** From head to tail; `index` starts at 1. */
  readonly tasks: readonly QueueTaskView[];
}

export interface QueueTaskView {
  readonly index: number;
  readonly description: string;
}

/** Values of `global` or of one module. */
export interface SectionView {
  /** The merged values of the section. */
  values(): JsonObject;
  /** The section in the ConfigMap. */
  configValues(): JsonObject;
  /** The values patches in memory, each a list of operations; `undefined` when there never was one. */
  patches(): readonly ValuesPatchView[] | undefined;
  /** Snapshots by hook and binding, with the counters of operations. */
  snapshots(): JsonObject;
  /** The merged values with the layer that each comes from. */
  layeredValues(): readonly LayeredValue[];
  /** Operations of hooks on these values. */
  hookPatches(): readonly HookPatchView[];
  /** Snapshots by hook and binding, object by object. */
  hookSnapshots(): readonly HookSnapshots[];
  /** The hooks with their bindings and last runs. */
  hooks(): readonly HookView[];
}

/** One values patch as `patches` lists it. */
export interface ValuesPatchView {
  readonly Operations: readonly JsonObject[];
}

export interface ModuleView extends SectionView {
  /** Key of the module in values: its name in camelCase. */
  readonly valuesKey: string;
  /** Drift of the objects of the release; null without drift detection for it. */
  drift(): ModuleDrift | null;
  /** What changed since its last run that succeeded. */
  changed(): ModuleChanged;
  /**
   * The objects of its release as they are in the cluster; none without a release.
   *
   * @throws the errors of the API client
   */
  objects(signal: AbortSignal): Promise<ReleaseObjects>;
  /** The last 20 revisions of the release, the newest first. @throws the errors of the API client */
  history(signal: AbortSignal): Promise<readonly RevisionView[]>;
  /**
   * The versions that a source delivered, the newest first; empty for a module of a plain directory.
   *
   * @param revisions those of its release
   */
  versions(revisions: readonly RevisionView[]): readonly VersionView[];
  /**
   * How two revisions differ, as text; undefined if one of them does not exist. Data of Secrets shows as asterisks.
   *
   * @throws OperatorError HELM_RELEASE_CORRUPT, or the errors of the API client
   */
  compareRevisions(
    revisions: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** As `render` with `isDiff`, one at a time. @throws OperatorError HELM_FAILED when the chart cannot be rendered */
  changes(signal: AbortSignal): Promise<string>;
  /**
   * The rendered manifests, or the difference to the cluster; empty for a module without a chart.
   *
   * @throws OperatorError HELM_FAILED when the chart cannot be rendered
   */
  render(options: ModuleRenderOptions, signal: AbortSignal): Promise<string>;
}

export interface ModuleRenderOptions {
  /** Also return manifests that are no valid YAML, with the error below them. */
  readonly isDebug: boolean;
  /** Return what an upgrade would change in the cluster, or `No diff found`; what cannot be compared is said. */
  readonly isDiff: boolean;
}

/** By module: `<namespace>/<Kind>/<name>` of each object, or `undefined` where no monitor runs. */
export type MonitoredResources = Readonly<Record<string, readonly string[] | undefined>>;

/** One module as the graph shows it. */
export interface GraphModule {
  readonly name: string;
  readonly order: number;
  /** Its state in one word, such as `ready` or `disabled`. */
  readonly status: string;
  /** `version` is a range of versions; absent: any. */
  readonly requires: readonly {
    readonly name: string;
    readonly isOptional: boolean;
    readonly version?: string | undefined;
  }[];
}
