import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
import type { Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { type FinishDeletionParts, isPurgeHeld, queuePurge } from '../reconcile/finish-deletion.ts';
import type { UnlockResult } from '../releases/recover.ts';

/** The parts in which tasks may wait for the release. */
export type ReleaseUnlockParts = {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly queues: QueueSet<Task>;
  readonly releases: Releases;
} & FinishDeletionParts;

const TRIGGER = 'Release-Unlocked';

/**
 * Removes the lock that another helm left on a release, and wakes the task that waits for it: the
 * run or deletion of its module, or the purge of a release without a module.
 *
 * @throws errors of the API client
 */
export async function releaseUnlock(
  operator: ReleaseUnlockParts,
  name: string,
  signal: AbortSignal,
): Promise<UnlockResult> {
  const { registry } = operator;
  const result = await operator.releases.unlock(name, signal);
  if (result.type !== 'unlocked') return result;
  const module = registry.find(name);
  let isWaiting = false;
  // A task that failed at the lock waits with back-off: retried now, instead of a second task
  // behind it.
  for (const queue of operator.queues.all) {
    const [head] = queue.entries;
    if (head === undefined || !isAbout(head.task, name)) continue;
    isWaiting = true;
    queue.cutDelay();
  }
  if (isWaiting) return result;
  if (module === undefined) {
    const isOurs = (await operator.releases.list(signal)).some((one) => one.name === name && one.isOwned);
    if (isOurs && !isPurgeHeld(operator, name)) queuePurge(operator, name, TRIGGER);
  } else if (registry.isWanted(module.name)) operator.router.queueModuleRun(module.name, TRIGGER);
  return result;
}

function isAbout(task: Task, name: string): boolean {
  if (task.type === 'ModulePurge') return task.release === name;
  return (task.type === 'ModuleRun' || task.type === 'ModuleDelete') && task.module === name;
}
