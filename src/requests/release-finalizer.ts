import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleExtensions } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { FinishDeletionParts } from '../reconcile/finish-deletion.ts';
import { queuePurge } from '../reconcile/finish-deletion.ts';
import type { FinalizerRelease } from '../status/module-object.ts';

/** The parts in which a deletion may wait. */
export type ReleaseFinalizerParts = {
  readonly registry: ModuleRegistry;
  readonly queues: QueueSet<Task>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers'>;
} & FinishDeletionParts;

/**
 * Releases the finalizer of a module whose reconcile webhook cannot finalize it.
 *
 * @param name of a module; its directory may be gone
 * @throws errors of the API client
 */
export async function releaseFinalizer(
  operator: ReleaseFinalizerParts,
  name: string,
  signal: AbortSignal,
): Promise<FinalizerRelease> {
  const { finalizers } = operator.extensions;
  const { queues } = operator;
  const module = operator.registry.find(name);
  if (module !== undefined && operator.registry.isEnabled(module.name)) return 'enabled';
  const queue = queues.all.find(({ entries }) =>
    entries.some(({ task }) => task.type === 'ModuleDelete' && task.module === name),
  );
  if (queue !== undefined) {
    finalizers?.skip(name);
    const [head] = queue.entries;
    // Only if the deletion is the task that fails: others keep their back-off.
    if (head?.task.type === 'ModuleDelete' && head.task.module === name) queue.cutDelay();
    return 'deleting';
  }
  if (finalizers === undefined || !(await finalizers.isHeld(name, signal))) return 'not-held';
  if (module !== undefined) {
    await finalizers.releaseAbandoned(name, signal);
    return 'released';
  }
  finalizers.skip(name);
  queuePurge(operator, name, 'Finalizer-Released');
  return 'deleting';
}
