import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleCrds } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';

/** The parts that install CRDs. */
export interface ModuleEnsureCrdsParts {
  readonly registry: ModuleRegistry;
  readonly crds: ModuleCrds;
}

type EnsureTask = Extract<Task, { type: 'ModuleEnsureCRDs' }>;

/**
 * Handles ModuleEnsureCRDs: installs the CRDs of a starting module before any module is deleted or
 * run, since hooks of others may watch these kinds.
 */
export async function handleModuleEnsureCrds(
  operator: ModuleEnsureCrdsParts,
  task: EnsureTask,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (operator.registry.isWanted(task.module)) await operator.crds.ensure(task.module, signal);
  return { type: 'success' };
}
