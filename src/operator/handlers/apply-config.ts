import { isDeepStrictEqual } from 'node:util';
import { errorFields, hasCode } from '../../lib/errors.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import { unknownModuleKeys } from '../../values/config-map-content.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { OperatorWith } from '../operator.ts';
import { rethrowAbort } from '../rethrow-abort.ts';
import { originOf } from '../task-origin.ts';
import { moduleOf, type Task } from '../tasks.ts';
import { DISCOVERY_RETRY_MS } from './converge-modules.ts';

/** What the functions here use of the operator. */
export type ApplyConfigParts = OperatorWith<
  'converge' | 'registry' | 'router',
  'configMapContent' | 'followSecrets' | 'log' | 'metrics' | 'queues' | 'rediscover' | 'values'
>;

type ApplyTask = Extract<Task, { type: 'ApplyKubeConfigValues' }>;

/**
 * Takes over what the ConfigMap says now, and runs the modules whose sections changed. An enabled script may decide
 * otherwise on the new values: then all modules are brought to the new state instead.
 */
export async function handleApplyConfig(
  operator: ApplyConfigParts,
  task: ApplyTask,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { values, configMapContent, followSecrets, metrics, log } = operator.deps;
  try {
    await followSecrets();
    values.setConfig(configMapContent(), (module) => !operator.registry.isFlaggedOff(module));
    operator.converge.isConfigRefused = false;
    warnAboutUnknownModules(operator);
    if (task.changedKeys.length === 0) return { type: 'success' };
    if (await hasOtherModulesEnabled(operator, signal)) {
      operator.router.restartConverge('ReloadAllModules', 'ReloadAll-After-KubeConfigChange', originOf(task));
      return { type: 'success' };
    }
    return { type: 'success', after: runsOfChangedModules(operator, task) };
  } catch (error) {
    rethrowAbort(error, signal);
    operator.converge.isConfigRefused = hasCode(error, 'VALUES_INVALID');
    metrics.modulesDiscoverError();
    log.error(
      errorFields(error),
      'ApplyKubeConfigValues failed, modules are not changed. Requeue task to retry after delay.',
    );
    // Only a failed discovery is repeated at a constant pace.
    return {
      type: 'retry',
      error,
      ...(!operator.converge.isConfigRefused && { delayMs: DISCOVERY_RETRY_MS }),
    };
  }
}

async function hasOtherModulesEnabled(operator: ApplyConfigParts, signal: AbortSignal): Promise<boolean> {
  const { registry, deps } = operator;
  const { modules, discovery } = registry;
  if (discovery === undefined || modules.every((module) => module.enabledScript === undefined)) return false;
  const { enabled } = await deps.rediscover(modules, registry.deployed, signal);
  return !isDeepStrictEqual(enabled, discovery.enabled);
}

function runsOfChangedModules(operator: ApplyConfigParts, { changedKeys }: ApplyTask): readonly Task[] {
  const changed = operator.registry.modules.filter(
    ({ key, name }) => changedKeys.includes(key) && operator.registry.isEnabled(name),
  );
  for (const { name } of changed) operator.router.changes.note(name);
  return changed
    .filter(({ name }) => !retriesNow(operator, name) && !operator.router.isModuleRunPending(name))
    .map(({ name }) => operator.router.moduleRun(name, 'KubeConfig-Changed-Modules'));
}

/** What of the module waits after a failure beside `main` may have waited for just this. Returns whether a run did. */
function retriesNow({ deps }: ApplyConfigParts, module: ModuleName): boolean {
  let isRun = false;
  for (const queue of deps.queues.all) {
    const task = queue.entries[0]?.task;
    if (task === undefined || queue.status.type !== 'delayed' || moduleOf(task) !== module) continue;
    isRun ||= task.type === 'ModuleRun' && task.isRecheck !== true;
    queue.cutDelay();
  }
  return isRun;
}

/** Sections and flags of modules that do not exist are mostly typing errors; they have no effect. */
export function warnAboutUnknownModules({ deps, registry }: ApplyConfigParts): void {
  const known = new Set(registry.modules.map((module) => module.key));
  const unknown = unknownModuleKeys(deps.configMapContent(), known);
  if (unknown.length > 0)
    deps.log.warn({ keys: unknown }, 'KubeConfigManager has values for unknown modules');
}
