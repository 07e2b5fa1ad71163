import { isDeepStrictEqual } from 'node:util';
import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleSources } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { ModuleDiscovery } from '../modules/module-discovery.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { RefusedModules } from './refused-modules.ts';

/** The parts that a retry of scripts uses. */
export interface RetryEnabledScriptsParts {
  readonly registry: ModuleRegistry;
  readonly router: Pick<TaskRouter, 'failedScripts' | 'restartConverge'>;
  readonly sources: Pick<ModuleSources, 'rediscover'>;
  readonly refusals: RefusedModules;
}

/**
 * Handles RetryEnabledScripts: runs failed enabled scripts again. A different result restarts the
 * converge; otherwise only the reasons are updated. `model/failed-scripts.ts` queues the task.
 */
export async function handleRetryEnabledScripts(
  { registry, router, sources, refusals }: RetryEnabledScriptsParts,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { discovery, modules, before } = registry;
  // A due time means that a converge has run the scripts since this task was queued.
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

/** Whether the new discovery enables other modules than the last one. */
export function hasOtherResult(last: ModuleDiscovery, found: ModuleDiscovery): boolean {
  const essence = ({ enabled, undecided = new Map() }: ModuleDiscovery) => [enabled, [...undecided.keys()]];
  return !isDeepStrictEqual(essence(last), essence(found));
}
