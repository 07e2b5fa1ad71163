import type { Logger } from '@addon-operator/base/log';
import type { ConvergeState } from '../model/converge-state.ts';
import type { HandOverActions, HandOvers } from '../model/hand-overs.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Task } from '../model/tasks.ts';
import { lookForReleases } from '../reconcile/finish-deletion.ts';
import type { ModuleRemoval } from '../reconcile/module-delete.ts';
import { originalTaskOf } from '../reconcile/reconcile-module.ts';
import type { ModuleName } from '../values/module-key.ts';
import { onPausesChange, type PauseTasksParts } from './pause-tasks.ts';

/** The parts that {@link deferIfAway} uses. */
export interface HandOverTasksParts {
  readonly registry: ModuleRegistry;
  readonly converge: Pick<ConvergeState, 'deferRun'>;
  readonly log: Logger;
  readonly handOvers: Pick<HandOvers, 'isAway' | 'during'>;
}

/** The module or release that a task acts on; undefined for a task without one. */
export function actingOn(task: Task): string | undefined {
  if (task.type === 'ModulePurge') return task.release;
  return 'module' in task ? task.module : undefined;
}

/**
 * Skips a task, also a deletion, of a module that is handed over. Returns whether it is skipped.
 */
export function deferIfAway(operator: HandOverTasksParts, task: Task): boolean {
  const target = actingOn(task);
  if (target === undefined || !operator.handOvers.isAway(target)) return false;
  // Deferred, so that the module runs when it is taken back.
  if (task.type === 'ModuleRun' || task.type === 'ModuleDelete' || task.type === 'ModuleEnsureCRDs')
    operator.converge.deferRun(task.module);
  const tracked = operator.registry.tracked.get(target as ModuleName);
  if (
    (task.type === 'ModuleRun' || task.type === 'ModuleDelete') &&
    tracked?.ongoing?.task === originalTaskOf(task)
  )
    tracked.endReconcile();
  operator.log.info(
    { module: target, task: task.type },
    'Module is handed over, its task is skipped until the module is taken back',
  );
  return true;
}

/**
 * The effects of hand-overs on the operator: `begin` and `end` stop a module, `onTakenBack` lets it
 * run again.
 */
export function handOverActions(
  operator: PauseTasksParts & { readonly removal: Pick<ModuleRemoval, 'stop'> },
  pauses: Pick<Pauses, 'change'>,
): HandOverActions {
  const { registry, releases, converge, router, removal } = operator;
  return {
    begin: async (module) => {
      const hooks = registry.tracked.get(module as ModuleName)?.hooks ?? [];
      // Stopping a hook also ends an attempt that waits for its rate limit.
      await Promise.all(hooks.map((runtime) => runtime.stop()));
      onPausesChange(operator);
    },
    end: async (module, signal) => {
      await releases.stopMonitor(module);
      const tracked = registry.tracked.get(module as ModuleName);
      if (tracked !== undefined) await removal.stop(tracked, signal);
    },
    onTakenBack: (name) => {
      const module = registry.find(name);
      operator.log.info({ module: name }, 'module is taken back');
      if (module === undefined) {
        lookForReleases(operator, 'Module-Taken-Back');
        return;
      }
      if (registry.isEnabled(module.name)) {
        converge.deferRun(module.name);
        onPausesChange(operator);
        return;
      }
      converge.resumeRun(module.name);
      // Disabled in the meantime, but its release is still there: the converge deletes it.
      if (registry.discovery !== undefined) router.restartConverge('ReloadAllModules', 'Module-Taken-Back');
    },
    facts: () => ({ enabledModules: registry.enabled }),
    change: (...change) => pauses.change(...change),
  };
}
