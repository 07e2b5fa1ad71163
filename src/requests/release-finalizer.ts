import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleExtensions } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import type { FinishDeletionParts } from '../reconcile/finish-deletion.ts';
import { queuePurge } from '../reconcile/finish-deletion.ts';

/** What the functions here use of the operator. */
export type ReleaseFinalizerParts = {
  readonly registry: ModuleRegistry;
  readonly queues: QueueSet<Task>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers'>;
} & FinishDeletionParts;

/**
 * Result of the request to delete a module without its reconcile webhook. `enabled`: nothing, the module is not being deleted.
 * `deleting`: its deletion goes on now, without the hook. `released`: there was only the object left, it may go.
 * `not-held`: there is nothing that a hook keeps.
 */
export type ReleaseOutcome = 'enabled' | 'deleting' | 'released' | 'not-held';

/**
 * Releases the finalizer of a module whose reconcile webhook cannot finalize it.
 *
 * @param name of a module; its directory may be gone
 * @throws errors of the client
 */
export async function releaseFinalizer(
  operator: ReleaseFinalizerParts,
  name: string,
  signal: AbortSignal,
): Promise<ReleaseOutcome> {
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
