import type { Clock } from '@addon-operator/base/clock';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { Journal } from '../journal/journal.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import type { Releases } from '../model/releases.ts';
import type { ModuleCrds, ModuleExtensions } from '../model/services.ts';
import type { ModuleRun, Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import { combineSteps, type ReleaseSteps } from '../releases/release-steps.ts';
import type { ReleaseFacts } from '../status/module-facts.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToHelm } from '../values/visible-values.ts';
import type { DeployHooks } from './deploy-hooks.ts';
import type { LifecycleRun } from './module-lifecycle.ts';
import type { DeploymentPreparation } from './prepare-deployment.ts';
import type { RefusedModules } from './refused-modules.ts';
import { formatSetByHooks, setByHooks } from './set-by-hooks.ts';

/** What modules are deployed with. */
export interface ModuleDeploymentParts {
  readonly clock: Clock;
  readonly metrics: OperatorMetrics;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly releases: Releases;
  readonly crds: ModuleCrds;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  readonly extensions: Pick<ModuleExtensions, 'releaseSteps'>;
  readonly journal: Pick<Journal, 'enterPhase' | 'spanIn'>;
  readonly deployHooks: Pick<DeployHooks, 'begin'>;
  readonly refusals: RefusedModules;
  readonly preparation: DeploymentPreparation;
}

interface DeployBegin {
  readonly tracked: TrackedModule;
  readonly queue: TaskQueue<Task>;
  readonly run: LifecycleRun;
}

interface DeployRequest extends DeployBegin {
  readonly task: ModuleRun;
  /** Whether helm applies the chart although nothing has changed. */
  readonly isForced: boolean;
  /** What {@link ModuleDeployment.begin} has returned. */
  readonly deploySteps: ReleaseSteps | undefined;
}

/**
 * Deploys the charts of modules, between their beforeHelm and afterHelm hooks: CRDs, the values of the chart, then the
 * driver of `packages/helm-releases`, which decides whether helm has to run.
 */
export class ModuleDeployment {
  readonly #parts: ModuleDeploymentParts;

  constructor(parts: ModuleDeploymentParts) {
    this.#parts = parts;
  }

  /**
   * To be called before the hooks of the module: starts helm if it is new, and runs deploy hooks for the begin.
   *
   * @returns what reports the progress of helm to deploy hooks; undefined for nothing
   */
  async begin({ tracked, queue, run }: DeployBegin, signal: AbortSignal): Promise<ReleaseSteps | undefined> {
    const { deployHooks, journal, preparation } = this.#parts;
    preparation.first(tracked, journal.spanIn(queue.name), signal);
    return tracked.module.chart === 'none' ? undefined : await deployHooks.begin(tracked.module, run, signal);
  }

  /**
   * Has helm deploy the chart of a module, if anything has changed.
   *
   * @throws what fails; the next attempt begins anew
   */
  async deploy(
    { tracked, task, queue, run, isForced, deploySteps }: DeployRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, configMapContent, crds, extensions, journal } = this.#parts;
    const { metrics, preparation, refusals, releases, values } = this.#parts;
    const { module } = tracked;
    const helmStartedMs = clock.steadyMs();
    journal.enterPhase(queue.name, 'helm');
    // Another client may have deleted them after the module started.
    if (tracked.hasDeployFailed && crds.has(module.name)) await crds.ensure(module.name, signal);
    values.checkForHelm(module.name);
    const options = {
      mayShareReads: task.isPartOfConverge,
      isUnmanaged: configMapContent().maintenance.has(module.key),
      isForced,
      note: formatSetByHooks(setByHooks(this.#parts, module.name)),
      onApply: () => preparation.next(queue, signal),
      span: journal.spanIn(queue.name),
      steps: combineSteps([
        await extensions.releaseSteps(module, signal),
        refusals.verificationSteps(module, run),
        deploySteps,
      ]),
    };
    const activation = task.event ?? '';
    tracked.release.noteDeploy(activation);
    let deployed: ReleaseFacts;
    try {
      deployed = await releases.deploy(module, visibleToHelm(values, module.name), options, signal);
      tracked.release.noteDeployed(deployed);
    } finally {
      metrics.moduleHelm({ module: module.name, activation }, (clock.steadyMs() - helmStartedMs) / 1_000);
    }
    // Another client may have uninstalled the release that was recorded.
    const isNoted = tracked.release.isKept && deployed.revision > 1;
    if (module.manifest.deletionPolicy !== 'delete' && !isNoted) {
      await releases.keep(module.name, true, signal);
      tracked.release.noteKept(true);
    }
  }
}
