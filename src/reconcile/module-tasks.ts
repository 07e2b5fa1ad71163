import { planConverge } from '../model/converge.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import { ParallelRuns } from '../model/parallel-runs.ts';
import type { ModuleCrds } from '../model/services.ts';
import type { ModuleRun, Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** The parts that the tasks of modules are created from. */
export interface ModuleTasksParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly crds: ModuleCrds;
  readonly policy: Pick<OperatorPolicy, 'runsModulesInParallel'>;
}

/** Creates the tasks of a converge. */
export class ModuleTasks {
  readonly #parts: ModuleTasksParts;

  constructor(parts: ModuleTasksParts) {
    this.#parts = parts;
  }

  /**
   * Creates the tasks that apply the last discovery to all modules: CRDs of new modules, then
   * deletions, then runs.
   *
   * @param releases names of the releases in the cluster that this operator owns
   * @param converge the requesting task
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
    // A run of the converge covers changes, so an abort that was requested before does not end it.
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

/**
 * Combines runs of modules with the same order number that do not require one another into one
 * task.
 */
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
