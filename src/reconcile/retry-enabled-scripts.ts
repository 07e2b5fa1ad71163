import { isDeepStrictEqual } from 'node:util';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { ModuleDiscovery } from '../modules/module-discovery.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { RefusedModules } from './refused-modules.ts';

/** What the functions here use of the operator. */
export interface RetryEnabledScriptsParts {
  readonly registry: ModuleRegistry;
  readonly router: Pick<TaskRouter, 'failedScripts' | 'restartConverge'>;
  readonly sources: Pick<ModuleSources, 'rediscover'>;
  readonly refusals: RefusedModules;
}

/**
 * Runs enabled scripts again that failed. When one of them succeeds, all modules are brought to what is decided now; until then
 * nothing changes but the reasons. `failed-scripts.ts` says when.
 */
export async function handleRetryEnabledScripts(
  { registry, router, sources, refusals }: RetryEnabledScriptsParts,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { discovery, modules, before } = registry;
  // A converge has run them in the meantime.
  if (discovery === undefined || router.failedScripts.dueMs !== undefined) return { type: 'success' };
  const found = await sources.rediscover(modules, before, signal);
  if (hasOtherResult(discovery, found)) {
    router.restartConverge('ReloadAllModules', 'Enabled-Script-Retried');
    return { type: 'success' };
  }
  registry.setDiscovery(found);
  refusals.report();
  return { type: 'success' };
}

/** Whether other modules are to be run than those of the last discovery. */
export function hasOtherResult(last: ModuleDiscovery, found: ModuleDiscovery): boolean {
  const essence = ({ enabled, undecided = new Map() }: ModuleDiscovery) => [enabled, [...undecided.keys()]];
  return !isDeepStrictEqual(essence(last), essence(found));
}
