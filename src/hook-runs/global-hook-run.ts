import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { kindFactsOf } from '../hook-config/binding-kinds.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
import { causedBy } from '../model/task-origin.ts';
import { type GlobalHookRun, isOnlySynchronization, REQUESTED, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { HookRunParts } from './hook-run.ts';
import { doneWith, type HookTaskOutcome, runHookTask } from './hook-run.ts';

/** The parts that a global hook run uses besides the common ones. */
export type GlobalHookRunParts = {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly values: ValuesStore;
  readonly releases: Releases;
} & HookRunParts;

/**
 * Handles a GlobalHookRun. Changed global values queue a converge; changed flags restart the one in
 * progress. The common part of module and global hooks is in `hook-run.ts`.
 */
export async function handleGlobalHookRun(
  operator: GlobalHookRunParts,
  entry: QueueEntry<Task>,
  task: GlobalHookRun,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const outcome = await runHookTask(operator, entry, task, queue, signal);
  if (outcome.type !== 'ran') return doneWith(outcome);
  // Before the first discovery there is nothing to restart: it will see the flags.
  if (outcome.effects.areFlagsChanged && operator.registry.discovery !== undefined)
    operator.router.restartConverge(
      'ReloadAllModules',
      'ReloadAll-After-GlobalHookDynamicUpdate',
      causedBy(outcome.task),
    );
  else {
    const trigger = changeTrigger(operator, task, outcome);
    if (trigger !== undefined) {
      operator.router.queueConverge('GlobalValuesChanged', trigger, causedBy(outcome.task));
      // Templates may read global values: cached facts and the resource monitors are renewed.
      await operator.releases.onGlobalChange();
    }
  }
  return doneWith(outcome);
}

/** The trigger of the converge that changed global values need; undefined if they need none. */
function changeTrigger(
  operator: GlobalHookRunParts,
  task: GlobalHookRun,
  { task: ran, effects }: Extract<HookTaskOutcome, { type: 'ran' }>,
): string | undefined {
  // The afterAll hooks of a converge run as a series, so only the last of them compares the values.
  if (isAfterAllDifferent(operator, task)) return 'AfterAll-Hooks-Change-GlobalValues';
  if (!effects.areValuesChanged || isOnlySynchronization(ran)) return undefined;
  const requested = ran.trigger === REQUESTED ? 'Request-Change-GlobalValues' : undefined;
  return kindFactsOf(ran.binding).changeTriggers?.global ?? requested;
}

/** Whether the series of afterAll hooks changed the global values. */
function isAfterAllDifferent(operator: GlobalHookRunParts, task: GlobalHookRun): boolean {
  const { valuesBeforeAfterAll } = task;
  return (
    valuesBeforeAfterAll !== undefined && operator.values.checksum(GLOBAL_SECTION) !== valuesBeforeAfterAll
  );
}
