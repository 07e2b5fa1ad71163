import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleExtensions } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** The parts that show unfinished deletions. */
export interface FinishDeletionParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers'>;
}

/** The trigger of the queued tasks. */
const TRIGGER = 'Module-Object-Held';

/**
 * Continues the deletion of a module that is not enabled, or has no directory any more, while its
 * Module object still waits for the reconcile webhook and no task exists, for example after a
 * restart.
 *
 * @returns whether it is too early to decide, so that the caller has to call again
 * @throws errors of the API client
 */
export async function finishDeletion(
  operator: FinishDeletionParts,
  name: string,
  signal: AbortSignal,
): Promise<'done' | 'too early'> {
  if (operator.converge.first !== 'done' || operator.converge.purge === 'undecided') return 'too early';
  // Read from the API server: the watch may be older than the release of the object.
  if ((await operator.extensions.finalizers?.isHeld(name, signal)) !== true) return 'done';
  const module = operator.registry.find(name);
  if (module === undefined) {
    if (isPurgeHeld(operator, name)) return 'done';
    queuePurge(operator, name, TRIGGER);
    return 'done';
  }
  const isQueued = operator.queues.all.some(({ entries }) =>
    entries.some(({ task }) => 'module' in task && task.module === module.name),
  );
  if (isQueued || operator.registry.isEnabled(module.name)) return 'done';
  operator.router.main.append({ type: 'ModuleDelete', module: module.name, trigger: TRIGGER });
  return 'done';
}

/** Whether the release of a module without a directory is held. */
export function isPurgeHeld({ converge: { purge } }: FinishDeletionParts, release: string): boolean {
  return typeof purge !== 'string' && purge.releases.includes(release);
}

/** Queues a ModulePurge at the end of `main`, unless one is queued. */
export function queuePurge(
  { router: { main } }: FinishDeletionParts,
  release: string,
  trigger: string,
): void {
  const isQueued = main.entries.some(({ task }) => task.type === 'ModulePurge' && task.release === release);
  if (!isQueued) main.append({ type: 'ModulePurge', release, trigger });
}

/**
 * Queues a search for releases without a module; before the first converge the operator does that
 * by itself.
 */
export function lookForReleases(
  { converge, router }: Pick<FinishDeletionParts, 'converge' | 'router'>,
  trigger: string,
): void {
  if (converge.first === 'done') router.main.append({ type: 'DiscoverHelmReleases', trigger });
}
