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
import { releaseSource } from './deployed-source.ts';
import type { LifecycleRun } from './module-lifecycle.ts';
import type { ModuleMemory } from './module-memory.ts';
import type { DeploymentPreparation } from './prepare-deployment.ts';
import type { RefusedModules } from './refused-modules.ts';
import { formatSetByHooks, setByHooks } from './set-by-hooks.ts';

/** The parts that deployments use. */
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
  readonly memory: Pick<ModuleMemory, 'filesOf'>;
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
  /** The result of {@link ModuleDeployment.begin}. */
  readonly deploySteps: ReleaseSteps | undefined;
}

/**
 * Deploys the charts of modules, between their beforeHelm and afterHelm hooks: CRDs, the values of
 * the chart, then the helm driver of `releases/`, which decides whether helm has to run.
 * `module-run.ts` calls `begin` before the hooks and `deploy` after them; an error of either fails
 * the attempt of the run.
 */
export class ModuleDeployment {
  readonly #parts: ModuleDeploymentParts;

  constructor(parts: ModuleDeploymentParts) {
    this.#parts = parts;
  }

  /**
   * Called before the hooks of the module: starts the rendering of a new module early, and runs
   * deploy hooks for the start.
   *
   * @returns steps that report the progress of helm to deploy hooks; undefined without such hooks
   */
  async begin({ tracked, queue, run }: DeployBegin, signal: AbortSignal): Promise<ReleaseSteps | undefined> {
    const { deployHooks, journal, preparation } = this.#parts;
    preparation.first(tracked, journal.spanIn(queue.name), signal);
    return tracked.module.chart === 'none' ? undefined : await deployHooks.begin(tracked.module, run, signal);
  }

  /**
   * Lets helm deploy the chart of a module if anything has changed.
   *
   * @throws the error of any step; the next attempt starts from the beginning
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
    // After a failure another client may have deleted the CRDs, which are otherwise installed once.
    if (tracked.hasDeployFailed && crds.has(module.name)) await crds.ensure(module.name, signal);
    // Checked only now, since beforeHelm hooks may set values that the chart requires.
    values.checkForHelm(module.name);
    const options = {
      mayShareReads: task.isPartOfConverge,
      isUnmanaged: configMapContent().maintenance.has(module.key),
      isForced,
      source: releaseSource(this.#parts, module),
      note: formatSetByHooks(setByHooks(this.#parts, module.name)),
      // While helm applies this module, the next one in the queue is rendered.
      onApply: () => preparation.next(queue, signal),
      span: journal.spanIn(queue.name),
      steps: combineSteps([
        await extensions.releaseSteps(module, signal),
        refusals.verificationSteps(module, run),
        deploySteps,
      ]),
    };
    // Noted before helm runs, for the metrics of its operations.
    const activation = task.event ?? '';
    tracked.release.noteDeploy(activation);
    let deployed: ReleaseFacts;
    try {
      deployed = await releases.deploy(module, visibleToHelm(values, module.name), options, signal);
      tracked.release.noteDeployed(deployed);
    } finally {
      metrics.moduleHelm({ module: module.name, activation }, (clock.steadyMs() - helmStartedMs) / 1_000);
    }
    // Revision 1 means that the annotated release was uninstalled by another client in the
    // meantime.
    const isNoted = tracked.release.isKept && deployed.revision > 1;
    if (module.manifest.deletionPolicy !== 'delete' && !isNoted) {
      await releases.keep(module.name, true, signal);
      tracked.release.noteKept(true);
    }
  }
}
