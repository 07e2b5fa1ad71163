import type { OperatorWith } from './operator.ts';
import { identityOf } from './reconcile-module.ts';
import type { Task } from './tasks.ts';

/** What the functions here use of the operator. */
export type PauseTasksParts = OperatorWith<
  'converge' | 'registry' | 'router',
  'crds' | 'log' | 'pauses' | 'queues' | 'releases'
>;

/** Leaves out what a paused module may not do, and keeps in mind that it is owed. Returns whether the task is left out. */
export function leaveOutIfPaused(operator: PauseTasksParts, task: Task): boolean {
  if (task.type !== 'ModuleRun' && task.type !== 'ModuleEnsureCRDs') return false;
  const pause = operator.deps.pauses.of(task.module);
  if (pause === undefined || !operator.registry.isWanted(task.module)) return false;
  operator.converge.deferredRuns.add(task.module);
  const tracked = operator.registry.states.get(task.module);
  // It waited for something else when the pause began, and begins anew after it.
  if (task.type === 'ModuleRun' && tracked?.ongoing?.task === identityOf(task)) tracked.endReconcile();
  operator.deps.log.info(
    { module: task.module, task: task.type, reason: pause.reason },
    'Module is paused, its run waits until it is resumed',
  );
  return true;
}

/**
 * Runs the modules that are not paused any more and were to be run meanwhile, in run order. Tasks of paused modules that
 * wait after a failure end at once, so that they hold up nobody.
 */
export function onPausesChange(operator: PauseTasksParts): void {
  const { pauses, crds, queues, releases } = operator.deps;
  releases.recheckDrift();
  for (const queue of queues.all) {
    const head = queue.entries[0]?.task;
    const isHeld = head?.type === 'ModuleRun' || head?.type === 'ModuleEnsureCRDs';
    if (isHeld && pauses.of(head.module) !== undefined) queue.cutDelay();
  }
  for (const { name } of operator.registry.modules) {
    if (!operator.converge.deferredRuns.has(name) || pauses.of(name) !== undefined) continue;
    operator.converge.deferredRuns.delete(name);
    if (
      operator.registry.stateOf(name)?.phase === 'startup' &&
      crds.has(name) &&
      operator.registry.isEnabled(name)
    )
      operator.router.main.append({ type: 'ModuleEnsureCRDs', module: name, trigger: 'Module-Resumed' });
    operator.router.queueModuleRun(name, 'Module-Resumed');
  }
}
