import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Releases } from '../model/releases.ts';
import type { ModuleCrds } from '../model/services.ts';
import type { Task } from '../model/tasks.ts';
import { filesDigest, readDigests } from '../modules/file-set.ts';
import { runWaiting } from '../queues/required-modules.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { originalTaskOf } from '../reconcile/reconcile-module.ts';

/** The parts that a pause defers tasks in. */
export interface PauseTasksParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly queues: QueueSet<Task>;
  readonly releases: Releases;
  readonly crds: ModuleCrds;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll' | 'resume'>;
}

/**
 * Ends the hold of a rollback when the module has other files than those that it was rolled back
 * from. Files that cannot be read end nothing.
 *
 * @throws errors of the API client
 */
export async function endHoldOfOldFiles(
  { pauses, registry, converge, log }: PauseTasksParts,
  task: Task,
  signal: AbortSignal,
): Promise<void> {
  if (task.type !== 'ModuleRun' && task.type !== 'ModuleEnsureCRDs') return;
  const { module: name } = task;
  const files = pauses.of(name)?.files;
  const module = files === undefined ? undefined : registry.find(name);
  if (module === undefined) return;
  const digests = await readDigests(module.path).catch(() => undefined);
  if (digests === undefined || filesDigest(digests) === files) return;
  log.info({ module: name }, 'Module has other files than those it was rolled back from, so it runs again');
  await pauses.resume(name, signal);
  // This task is the run that was deferred.
  if (task.type === 'ModuleRun') converge.resumeRun(name);
}

/**
 * The stage `pause` of the pipeline: defers runs and CRDs of a paused module until it is resumed.
 * Returns whether the task is skipped. Hooks for events continue, because snapshots and metrics
 * have to stay current.
 */
export function deferIfPaused(operator: PauseTasksParts, task: Task): boolean {
  if (task.type !== 'ModuleRun' && task.type !== 'ModuleEnsureCRDs') return false;
  const pause = operator.pauses.of(task.module);
  // A task of a module that is no longer wanted continues, and ends by itself.
  if (pause === undefined || !operator.registry.isWanted(task.module)) return false;
  operator.converge.deferRun(task.module);
  const tracked = operator.registry.tracked.get(task.module);
  // A run that waited when the pause began starts from its beginning after it.
  if (task.type === 'ModuleRun' && tracked?.ongoing?.task === originalTaskOf(task)) tracked.endReconcile();
  operator.log.info(
    { module: task.module, task: task.type, reason: pause.reason },
    'Module is paused, its run waits until it is resumed',
  );
  return true;
}

/**
 * Called when pauses change: queues the deferred runs of resumed modules, in run order. A failing
 * task of a paused module is woken, so that it ends and does not block its queue.
 */
export function onPausesChange(operator: PauseTasksParts): void {
  const { pauses, crds, queues, releases } = operator;
  releases.recheckDrift();
  for (const queue of queues.all) {
    const head = queue.entries[0]?.task;
    const isHeld = head?.type === 'ModuleRun' || head?.type === 'ModuleEnsureCRDs';
    if (isHeld && pauses.of(head.module) !== undefined) queue.cutDelay();
  }
  for (const module of operator.registry.modules) {
    const { name } = module;
    // Dependents do not wait for a paused module.
    if (pauses.of(name) !== undefined && !operator.registry.hasBeenReady(name)) runWaiting(operator, module);
    if (pauses.of(name) !== undefined || !operator.converge.resumeRun(name)) continue;
    if (
      operator.registry.track(name)?.phase === 'startup' &&
      crds.has(name) &&
      operator.registry.isEnabled(name)
      // A module that starts needs its CRDs first, as in a converge.
    )
      operator.router.main.append({ type: 'ModuleEnsureCRDs', module: name, trigger: 'Module-Resumed' });
    operator.router.queueModuleRun(name, 'Module-Resumed');
  }
}
