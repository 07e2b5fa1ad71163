import type { Redactor } from '@addon-operator/masking/redactor';
import type { TaskHandler } from '@addon-operator/task-queue';
import type { DeliveredModules } from '../delivery/delivered-modules.ts';
import type { ModuleSwitch } from '../delivery/module-switch.ts';
import type { Schedules } from '../hook-runs/schedules.ts';
import type { Lead } from '../leader/take-lead.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HandOvers } from '../model/hand-overs.ts';
import type { LoneModule } from '../model/lone-module.ts';
import type { Model } from '../model/model.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Releases } from '../model/releases.ts';
import type { Configuration, ModuleExtensions, ModuleSources, Telemetry } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { ModuleStore } from '../module-store/module-store.ts';
import type { createFileWaits, FileWaits } from '../operator/file-waits.ts';
import type { Queueing } from '../queues/create-queues.ts';
import type { HookServices, ModuleRecords, Reconcile } from '../reconcile/create-reconcile.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { Settings } from '../settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { Explained } from '../views/explained.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** The input of {@link buildOperator}. */
export interface BuildOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  /** Undefined without `--module-store`. */
  readonly store: ModuleStore | undefined;
  /** Modules that come from sources; absent without a store. */
  readonly delivery?: (DeliveredModules & NonNullable<Explained['delivery']>) | undefined;
  readonly metrics: OperatorMetrics;
  readonly hookMetrics: HookMetrics;
  readonly configMap: ConfigMapStore;
  /** The Module objects; undefined where the settings switch them off. */
  readonly objects: ModuleObjects | undefined;
  /** Masks the content of Secrets in logs, errors and responses. */
  readonly redactor: Redactor;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
  /** The ports of webhooks that another replica can take over; undefined with a single replica. */
  readonly heldPorts: Lead['heldPorts'];
  /** Receives everything that is started later. */
  readonly running: AsyncDisposableStack;
  /** Default: all modules run. */
  readonly variant?: OperatorVariant;
}

/** Deviations from a normal operator. */
export interface OperatorVariant {
  /** Shows that the start waits for a file; see `operator/file-waits.ts`. */
  readonly onWait?: Parameters<typeof createFileWaits>[0]['onWait'];
  /** Nothing is run, and nothing is written to the cluster. */
  readonly isInspection?: true;
  /** The only module that runs. */
  readonly lone?: LoneModule | undefined;
}

/** The built operator, by rooms. Nothing runs yet. */
export interface BuiltOperator {
  readonly model: Model;
  readonly queueing: Queueing;
  readonly telemetry: Telemetry;
  readonly configuration: Configuration;
  readonly hooks: HookServices;
  readonly modules: BuiltModules;
  readonly reconcile: Reconcile;
  /** The parts that views read. */
  readonly explained: Explained;
  readonly followed: Followed;
  /** Records hook runs for clients of the debug endpoint. */
  readonly recorder: Recorder;
  /** Loads files; with a running author, waits for those that cannot be loaded. */
  readonly loads: FileWaits;
  /** Runs one attempt of a task; the queues are started with it. */
  readonly handle: TaskHandler<Task>;
}

/** The sources of modules, and their traces in the cluster. */
export interface BuiltModules {
  readonly records: ModuleRecords;
  readonly sources: ModuleSources;
  readonly extensions: ModuleExtensions;
  readonly releases: Releases;
  readonly helm: HelmDriver;
  /** Undefined without `--module-store`. */
  readonly store: ModuleStore | undefined;
  /** Switches modules to versions in the store; undefined without one. */
  readonly switching: ModuleSwitch | undefined;
}

/** Parts with a loop that runs as long as the operator. */
export interface Followed {
  readonly pauses: Pauses;
  readonly handOvers: HandOvers;
  readonly schedules: Schedules;
}
