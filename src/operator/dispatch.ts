import type { TaskHandler } from '@addon-operator/task-queue';
import type { HookTasks } from '../hook-runs/hook-tasks.ts';
import type { Model } from '../model/model.ts';
import type { Releases } from '../model/releases.ts';
import type { Configuration, ModuleCrds, ModuleSources, Telemetry } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { Queueing } from '../queues/create-queues.ts';
import { handleParallelModuleRun } from '../queues/parallel-module-run.ts';
import type { HookServices, Reconcile } from '../reconcile/create-reconcile.ts';
import { handleApplyConfig } from './apply-config.ts';
import { handleConvergeModules } from './converge-modules.ts';
import { handleReloadFiles } from './reload-files.ts';
import type { StoredSwitch } from './requested-switch.ts';

/** The rooms that handlers get their parts from. */
export interface DispatchParts {
  readonly model: Model;
  readonly queueing: Queueing;
  readonly telemetry: Telemetry;
  readonly configuration: Configuration;
  readonly hooks: HookServices;
  readonly hookTasks: HookTasks;
  readonly reconcile: Reconcile;
  readonly sources: ModuleSources;
  readonly releases: Releases;
  readonly crds: ModuleCrds;
  /** The store that requested switches of modules change; undefined without one. */
  readonly stored: StoredSwitch | undefined;
}

/**
 * Calls the handler of a task: the last stage of `task-pipeline.ts`. Each handler gets only the
 * parts that it uses, so this file shows what each type of task may touch. The switch is complete:
 * a new type of task does not compile until it has a handler. A handler that throws makes the task
 * retry.
 */
// oxlint-disable-next-line max-lines-per-function -- the switch over all types of tasks is one list
export function createDispatch(parts: DispatchParts): TaskHandler<Task> {
  const { model, queueing, telemetry, configuration, hooks, hookTasks, reconcile, sources, releases } = parts;
  const { crds, stored } = parts;
  const { registry, converge, globalHooks, updates, switchRequests } = model;
  const { queues, router } = queueing;
  const { clock, log, metrics, journal } = telemetry;
  const { values, configMapContent, followSecrets } = configuration;
  const { bindings, settingsChecks, synchronizations } = hooks;
  const { discovery, moduleTasks, preparation, removal } = reconcile;
  // One list of parts per handler: it shows what each type of task may touch.
  const converging = {
    registry,
    converge,
    globalHooks,
    clock,
    log,
    metrics,
    queues,
    values,
    discovery,
    moduleTasks,
    synchronizations,
  };
  const applying = {
    registry,
    converge,
    router,
    log,
    metrics,
    queues,
    values,
    configMapContent,
    followSecrets,
    sources,
    preparation,
    settingsChecks,
  };
  const reloading = {
    registry,
    converge,
    globalHooks,
    router,
    log,
    journal,
    releases,
    queues,
    metrics,
    sources,
    bindings,
    removal,
    values,
    crds,
    checking: { registry, sources, values, settingsChecks, releases, crds },
    switching: { updates, requests: switchRequests, stored, clock },
  };
  return async (entry, queue, signal) => {
    const { task } = entry;
    switch (task.type) {
      case 'GlobalHookRun':
        return await hookTasks.runGlobal(entry, task, queue, signal);
      case 'ModuleHookRun':
        return await hookTasks.runOfModule(entry, task, queue, signal);
      case 'GlobalHookEnableScheduleBindings':
        return hookTasks.enableSchedules(task.hook);
      case 'GlobalHookEnableKubernetesBindings':
        return await hookTasks.enableKubernetes(task, signal);
      case 'GlobalHookWaitKubernetesSynchronization':
        return hookTasks.waitSynchronization();
      case 'ConvergeModules':
        return await handleConvergeModules(converging, entry, task, queue, signal);
      case 'ApplyKubeConfigValues':
        return await handleApplyConfig(applying, task, signal);
      case 'ReloadFiles':
        return await handleReloadFiles(reloading, task, signal);
      case 'ModuleRun':
      case 'ModuleDelete':
        return await reconcile.reconcile(task, queue, signal);
      case 'ParallelModuleRun':
        return handleParallelModuleRun({ queues }, task);
      case 'ModuleEnsureCRDs':
        return await reconcile.ensureCrds(task, signal);
      case 'RetryEnabledScripts':
        return await reconcile.retryEnabledScripts(signal);
      case 'DiscoverHelmReleases':
        return await reconcile.releases.discover(signal);
      case 'ModulePurge':
        return await reconcile.releases.purge(task.release, signal);
    }
  };
}
