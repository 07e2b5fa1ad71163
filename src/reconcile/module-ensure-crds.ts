import type { TaskOutcome } from '@addon-operator/task-queue';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleCrds } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';

/** What the functions here use of the operator. */
export interface ModuleEnsureCrdsParts {
  readonly registry: ModuleRegistry;
  readonly crds: ModuleCrds;
}

type EnsureTask = Extract<Task, { type: 'ModuleEnsureCRDs' }>;

/** Brings the CRDs of a module that is about to start into the cluster, before any module is deleted or run. */
export async function handleModuleEnsureCrds(
  operator: ModuleEnsureCrdsParts,
  task: EnsureTask,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  if (operator.registry.isWanted(task.module)) await operator.crds.ensure(task.module, signal);
  return { type: 'success' };
}
