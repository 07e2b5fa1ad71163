import { planConverge } from '../model/converge.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import { ParallelRuns } from '../model/parallel-runs.ts';
import type { ModuleCrds } from '../model/services.ts';
import type { ModuleRun, Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** What tasks of modules are made from. */
export interface ModuleTasksParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly crds: ModuleCrds;
  readonly policy: Pick<OperatorPolicy, 'runsModulesInParallel'>;
}

/** Makes the tasks of a converge. */
export class ModuleTasks {
  readonly #parts: ModuleTasksParts;

  constructor(parts: ModuleTasksParts) {
    this.#parts = parts;
  }

  /**
   * The tasks that bring all modules to what the last discovery found: CRDs of new modules, deletions, runs.
   *
   * @param releases names of the releases in the cluster that a daemon of ours made
   * @param converge the task that requests it
   */
  create(
    releases: ReadonlySet<string>,
    converge: Extract<Task, { type: 'ConvergeModules' }>,
  ): readonly Task[] {
    const { event, trigger } = converge;
    const { crds, policy, registry, router } = this.#parts;
    const { activation } = this.#parts.converge;
    const tracked = [...registry.tracked.values()];
    const plan = planConverge({
      known: registry.modules.map((module) => module.name),
      enabled: registry.enabled,
      started: registry.started,
      initialized: new Set(
        tracked.filter(({ phase }) => phase !== 'startup').map(({ module }) => module.name),
      ),
      releases,
    });
    const runs = plan.toRun.map(
      (run): ModuleRun => ({ type: 'ModuleRun', ...run, isPartOfConverge: true, event, trigger, activation }),
    );
    for (const { module } of runs) router.changes.note(module);
    return [
      ...plan.toRun
        .filter((run) => run.doModuleStartup && crds.has(run.module))
        .map(({ module }): Task => ({ type: 'ModuleEnsureCRDs', module, trigger })),
      ...plan.toDelete.map((module): Task => ({ type: 'ModuleDelete', module, trigger })),
      ...(policy.runsModulesInParallel ? inParallel(registry, runs, trigger) : runs),
    ];
  }
}

/** Runs of modules with one order number that do not require one another become one task; others stay as they are. */
function inParallel(registry: ModuleRegistry, runs: readonly ModuleRun[], trigger: string): readonly Task[] {
  const byName = new Map(runs.map((run) => [run.module, run]));
  const groups = parallelGroups(registry.modules.filter(({ name }) => byName.has(name)));
  return groups.flatMap((group): readonly Task[] => {
    const together = group.flatMap(({ name }) => byName.get(name) ?? []);
    if (together.length < 2) return together;
    return [{ type: 'ParallelModuleRun', runs: new ParallelRuns(together), trigger }];
  });
}

/**
 * Parts modules, given in run order, into groups that may run at the same time: neighbours with the same order number of
 * which none requires another.
 */
export function parallelGroups<M extends Pick<Module, 'name' | 'order' | 'manifest'>>(
  modules: readonly M[],
): readonly (readonly M[])[] {
  const groups: M[][] = [];
  for (const module of modules) {
    const group = groups.at(-1);
    const fits = group?.every(
      (other) =>
        other.order === module.order && module.manifest.requires.every(({ name }) => name !== other.name),
    );
    if (group !== undefined && fits === true) group.push(module);
    else groups.push([module]);
  }
  return groups;
}
