import type { ModuleName } from '../values/module-key.ts';

/** The phase of a converge; it waits in each phase until the tasks it put in front of itself are done. */
export type ConvergePhase = 'standby' | 'wait-before-all' | 'wait-modules' | 'wait-after-all';

export interface ConvergeFacts {
  /** All known modules, in run order. */
  readonly known: readonly ModuleName[];
  /** The modules that the discovery enabled, in run order. */
  readonly enabled: readonly ModuleName[];
  /** Modules that were started in this process, at least in part. */
  readonly started: ReadonlySet<ModuleName>;
  /** Modules that completed their start-up. */
  readonly initialized: ReadonlySet<ModuleName>;
  /** Names of helm releases in the cluster that this operator owns. */
  readonly releases: ReadonlySet<string>;
}

/** The steps after which exactly the enabled modules run. */
export interface ConvergePlan {
  /** In the reverse of the run order. */
  readonly toDelete: readonly ModuleName[];
  /** All enabled modules, in run order. */
  readonly toRun: readonly { readonly module: ModuleName; readonly doModuleStartup: boolean }[];
}

/**
 * Derives the plan from the current state, not from the changes since the last plan: a converge
 * that was interrupted before its tasks ran loses nothing. `operator/converge-modules.ts` queues
 * its tasks, and `plan/collect-plan.ts` shows them.
 */
export function planConverge(facts: ConvergeFacts): ConvergePlan {
  const enabled = new Set(facts.enabled);
  return {
    toDelete: facts.known
      // A release without a start in this process was left by an earlier daemon.
      .filter((name) => !enabled.has(name) && (facts.started.has(name) || facts.releases.has(name)))
      .toReversed(),
    toRun: facts.enabled.map((module) => ({
      module,
      doModuleStartup: !facts.initialized.has(module),
    })),
  };
}
