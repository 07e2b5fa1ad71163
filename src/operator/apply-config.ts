import { errorFields, hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { NO_SPAN } from '@addon-operator/base/trace';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { SettingsChecks } from '../hook-runs/settings-checks.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import { originOf } from '../model/task-origin.ts';
import { moduleOf, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { DeploymentPreparation } from '../reconcile/prepare-deployment.ts';
import { hasOtherResult } from '../reconcile/retry-enabled-scripts.ts';
import { type ConfigMapContent, unknownModuleKeys } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { DISCOVERY_RETRY_MS } from './converge-modules.ts';

/** The parts that a new content of the ConfigMap is checked and applied with. */
export interface ApplyConfigParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly queues: QueueSet<Task>;
  readonly values: ValuesStore;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  /** Follows the Secrets that values refer to; resolves when they are read. */
  readonly followSecrets: () => Promise<void>;
  readonly sources: Pick<ModuleSources, 'rediscover'>;
  readonly preparation: DeploymentPreparation;
  readonly settingsChecks: Pick<SettingsChecks, 'checkContent'>;
}

type ApplyTask = Extract<Task, { type: 'ApplyKubeConfigValues' }>;

/**
 * Handles ApplyKubeConfigValues, which `config-changes.ts` puts at the head of `main`: checks the
 * content of the ConfigMap, applies it, and queues runs of the changed modules, which end in helm
 * upgrades. If an enabled script decides otherwise on the new values, the converge is restarted
 * instead. Invalid content changes nothing: the old values stay, and the task is retried.
 */
export async function handleApplyConfig(
  operator: ApplyConfigParts,
  task: ApplyTask,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { values, configMapContent, followSecrets, metrics, log } = operator;
  const span = task.root?.span ?? NO_SPAN;
  try {
    await followSecrets();
    const content = configMapContent();
    // Sections of disabled modules are not checked, or a forgotten section would block all changes.
    const isInUse = (module: ModuleName): boolean => !operator.registry.isFlaggedOff(module);
    values.checkConfig(content, isInUse);
    // All checks come before the first change.
    await operator.settingsChecks.checkContent(content, isInUse, signal);
    values.setConfig(content, isInUse);
    // Everything is accepted; only now do older problems disappear from the status.
    operator.converge.setConfigRefused(false);
    warnAboutUnknownModules(operator);
    if (task.changedKeys.length === 0) return { type: 'success' };
    // Rendering starts while enabled scripts run below.
    for (const module of changedModules(operator, task)) operator.preparation.edited(module, span, signal);
    if (await hasOtherModulesEnabled(operator, signal)) {
      operator.router.restartConverge('ReloadAllModules', 'ReloadAll-After-KubeConfigChange', originOf(task));
      return { type: 'success' };
    }
    return { type: 'success', after: runsOfChangedModules(operator, task) };
  } catch (error) {
    rethrowAbort(error, signal);
    operator.converge.setConfigRefused(hasCode(error, 'VALUES_INVALID'));
    metrics.modulesDiscoverError();
    log.error(
      errorFields(error),
      'ApplyKubeConfigValues failed, modules are not changed. Requeue task to retry after delay.',
    );
    // Invalid values are retried with back-off; only a failed discovery is retried at a constant
    // pace.
    return {
      type: 'retry',
      error,
      ...(!operator.converge.isConfigRefused && { delayMs: DISCOVERY_RETRY_MS }),
    };
  }
}

/**
 * Whether enabled scripts decide otherwise on the new values. Scripts with unchanged input are not
 * run.
 */
async function hasOtherModulesEnabled(operator: ApplyConfigParts, signal: AbortSignal): Promise<boolean> {
  const { registry } = operator;
  const { modules, discovery } = registry;
  if (discovery === undefined || modules.every((module) => module.enabledScript === undefined)) return false;
  return hasOtherResult(discovery, await operator.sources.rediscover(modules, registry.before, signal));
}

/** The enabled modules whose sections have changed. */
function changedModules({ registry }: ApplyConfigParts, { changedKeys }: ApplyTask): readonly ModuleName[] {
  return registry.modules
    .filter(({ key, name }) => changedKeys.includes(key) && registry.isEnabled(name))
    .map(({ name }) => name);
}

/**
 * The runs that the changed modules need; one that is queued or retried already is not queued
 * again.
 */
function runsOfChangedModules(operator: ApplyConfigParts, task: ApplyTask): readonly Task[] {
  const changed = changedModules(operator, task);
  // Also for runs that are queued already: an abort must not end a newer change.
  for (const name of changed) operator.router.changes.note(name);
  return changed
    .filter((name) => !retriesNow(operator, name) && !operator.router.isModuleRunPending(name))
    .map((name) => operator.router.moduleRun(name, 'KubeConfig-Changed-Modules'));
}

/**
 * Cuts the back-off of the module's failing tasks in other queues, since the change may be what
 * they need. Returns whether one of them is a run that covers the change.
 */
function retriesNow(operator: ApplyConfigParts, module: ModuleName): boolean {
  let isRun = false;
  for (const queue of operator.queues.all) {
    const task = queue.entries[0]?.task;
    if (task === undefined || queue.status.type !== 'delayed' || moduleOf(task) !== module) continue;
    isRun ||= task.type === 'ModuleRun' && task.isRecheck !== true;
    queue.cutDelay();
  }
  return isRun;
}

/**
 * Warns of sections and flags for unknown modules, which have no effect: most are typing errors.
 */
export function warnAboutUnknownModules(
  operator: Pick<ApplyConfigParts, 'configMapContent' | 'log' | 'registry'>,
): void {
  const known = new Set(operator.registry.modules.map((module) => module.key));
  const unknown = unknownModuleKeys(operator.configMapContent(), known);
  if (unknown.length > 0)
    operator.log.warn({ keys: unknown }, 'KubeConfigManager has values for unknown modules');
}
