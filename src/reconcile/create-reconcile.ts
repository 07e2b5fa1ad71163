import type { TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import type { SettingsChecks } from '../hook-runs/settings-checks.ts';
import type { Synchronizations } from '../hook-runs/synchronizations.ts';
import type { Model } from '../model/model.ts';
import type { DirectoryMemory } from '../model/purge-guard.ts';
import type { Releases } from '../model/releases.ts';
import type {
  Configuration,
  HookBindings,
  ModuleCrds,
  ModuleExtensions,
  ModuleSources,
  Telemetry,
} from '../model/services.ts';
import type { ModuleDelete, ModuleRun, Task } from '../model/tasks.ts';
import type { Queueing } from '../queues/create-queues.ts';
import { DeployHooks } from './deploy-hooks.ts';
import { ModuleDeployment } from './deploy-module.ts';
import { DiscoveryPass } from './discover-modules.ts';
import { ModuleRemoval } from './module-delete.ts';
import { handleModuleEnsureCrds } from './module-ensure-crds.ts';
import { ModuleLifecycle } from './module-lifecycle.ts';
import type { ModuleMemory } from './module-memory.ts';
import { ModuleRunner } from './module-run.ts';
import { ModuleTasks } from './module-tasks.ts';
import { DeploymentPreparation } from './prepare-deployment.ts';
import { confirmPurge, handleDiscoverReleases, handleModulePurge } from './purge-releases.ts';
import { reconcileModule } from './reconcile-module.ts';
import { RefusedModules, skipIfRefused } from './refused-modules.ts';
import { handleRetryEnabledScripts } from './retry-enabled-scripts.ts';
import type { Authorization } from './verify-module.ts';

/** The parts that run hooks and their bindings. */
export interface HookServices {
  readonly execution: HookExecution;
  readonly bindings: HookBindings;
  readonly settingsChecks: Pick<SettingsChecks, 'checkContent' | 'checkInForce' | 'problemsOf'>;
  readonly synchronizations: Synchronizations;
}

/** Records about the files of modules. */
export interface ModuleRecords {
  readonly crds: ModuleCrds;
  readonly memory: Pick<ModuleMemory, 'filesOf' | 'names' | 'remember' | 'forget'>;
  readonly directoryMemory: DirectoryMemory;
  /** Undefined when every module may run. */
  readonly authorization: Authorization | undefined;
}

export interface ReconcileParts {
  readonly model: Model;
  readonly queueing: Queueing;
  readonly telemetry: Telemetry;
  readonly configuration: Configuration;
  readonly hooks: HookServices;
  readonly sources: ModuleSources;
  readonly records: ModuleRecords;
  readonly releases: Releases;
  readonly extensions: ModuleExtensions;
}

type Outcome = TaskOutcome<Task>;

/**
 * The life of modules: the handlers of their tasks, and the parts that converges and changes of
 * files use. `app/build-operator.ts` creates it, `operator/task-pipeline.ts` calls the handlers.
 */
export interface Reconcile {
  readonly discovery: DiscoveryPass;
  readonly moduleTasks: ModuleTasks;
  readonly preparation: DeploymentPreparation;
  readonly removal: ModuleRemoval;
  readonly deployHooks: DeployHooks;
  /** Whether a task is skipped because its module must not run; logs that. */
  readonly skipsTask: (task: Task) => boolean;
  /** Handles `ModuleRun` and `ModuleDelete`. */
  readonly reconcile: (
    task: ModuleRun | ModuleDelete,
    queue: TaskQueue<Task>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  readonly ensureCrds: (
    task: Extract<Task, { type: 'ModuleEnsureCRDs' }>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  readonly retryEnabledScripts: (signal: AbortSignal) => Promise<Outcome>;
  readonly releases: ReleaseTasks;
}

/** The handling of releases without a module. */
interface ReleaseTasks {
  readonly discover: (signal: AbortSignal) => Promise<Outcome>;
  readonly purge: (release: string, signal: AbortSignal) => Promise<Outcome>;
  /** Removes releases that were held; returns their names. @throws errors of the API client */
  readonly confirm: (signal: AbortSignal) => Promise<readonly string[]>;
}

// oxlint-disable-next-line max-lines-per-function -- it is a list: each part, and by name what it is given
export function createReconcile(parts: ReconcileParts): Reconcile {
  const { model, queueing, telemetry, configuration, hooks, sources, records, releases, extensions } = parts;
  const { registry, converge, globalHooks, operations, policy, pauses, handOvers } = model;
  const { queues, router } = queueing;
  const { clock, log, metrics, journal } = telemetry;
  const { values, dynamicFlags, configMapContent } = configuration;
  const { execution, bindings, settingsChecks, synchronizations } = hooks;
  const { crds, memory, directoryMemory, authorization } = records;
  const deployHooks = new DeployHooks({
    converge,
    globalHooks,
    log,
    metrics,
    queues,
    execution,
    releases,
    policy,
  });
  const refusals = new RefusedModules({ registry, log, authorization, deployHooks, metrics, router });
  const preparation = new DeploymentPreparation({ registry, values, releases, configMapContent });
  const lifecycle = new ModuleLifecycle({
    log,
    metrics,
    queues,
    execution,
    sources,
    bindings,
    journal,
    settingsChecks,
  });
  const removal = new ModuleRemoval({
    registry,
    router,
    operations,
    log,
    values,
    releases,
    bindings,
    extensions,
    deployHooks,
    journal,
    lifecycle,
    authorization,
  });
  const deployment = new ModuleDeployment({
    clock,
    metrics,
    values,
    dynamicFlags,
    releases,
    crds,
    configMapContent,
    extensions,
    journal,
    deployHooks,
    refusals,
    preparation,
    memory,
  });
  const runner = new ModuleRunner({
    registry,
    clock,
    log,
    metrics,
    values,
    releases,
    bindings,
    extensions,
    journal,
    memory,
    lifecycle,
    synchronizations,
    deployment,
  });
  const discovery = new DiscoveryPass({
    registry,
    log,
    releases,
    dynamicFlags,
    configMapContent,
    sources,
    directoryMemory,
    memory,
    bindings,
    journal,
    refusals,
    handOvers,
  });
  const purging = {
    registry,
    converge,
    router,
    log,
    releases,
    directoryMemory,
    sources,
    journal,
    extensions,
    policy,
    deployHooks,
    memory,
  };
  const reconciling = {
    registry,
    router,
    operations,
    clock,
    log,
    metrics,
    queues,
    pauses,
    extensions,
    runner,
    removal,
    memory,
  };
  return {
    discovery,
    moduleTasks: new ModuleTasks({ registry, converge, router, crds, policy }),
    preparation,
    removal,
    deployHooks,
    skipsTask: (task) => skipIfRefused({ authorization, registry, log }, task),
    reconcile: (task, queue, signal) => reconcileModule(reconciling, task, queue, signal),
    ensureCrds: (task, signal) => handleModuleEnsureCrds({ registry, crds }, task, signal),
    retryEnabledScripts: (signal) =>
      handleRetryEnabledScripts({ registry, router, sources, refusals }, signal),
    releases: {
      discover: (signal) => handleDiscoverReleases(purging, signal),
      purge: (release, signal) => handleModulePurge(purging, release, signal),
      confirm: (signal) => confirmPurge(purging, signal),
    },
  };
}
