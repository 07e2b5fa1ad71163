import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { AuthorizationFailure, DeployBinding, DeployedModule, DeployFacts } from '@addon-operator/sdk';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import { hookLabels } from '../hook-runs/hook-labels.ts';
import { taskLogger } from '../hook-runs/hook-run.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { DeployReason } from '../hooks/binding-context.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import { type HookRuntime, runtimesInOrder } from '../model/hook-runtime.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import type { Releases } from '../model/releases.ts';
import { originOf } from '../model/task-origin.ts';
import type { GlobalHookRun, Task } from '../model/tasks.ts';
import type { Module } from '../modules/module.ts';
import type { ReleaseSteps } from '../releases/release-steps.ts';
import type { LifecycleRun } from './module-lifecycle.ts';

/** The parts that deploy hooks run with. */
export interface DeployHooksParts {
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly queues: QueueSet<Task>;
  readonly execution: HookExecution;
  readonly releases: Releases;
  readonly policy: Pick<OperatorPolicy, 'deployHookTimeoutMs'>;
}

/** The queue for hooks that are notified of modules refused outside of a task. */
const REFUSAL_QUEUE = 'authorization';

const OF_A_DEPLOY: readonly DeployBinding[] = [
  'beforeInstall',
  'afterInstall',
  'beforeLaunch',
  'afterLaunch',
];

/**
 * Runs global hooks that observe deployments and removals of modules (bindings such as
 * `beforeInstall`). They see the deployment but cannot fail or change it: a failure is logged, and
 * changed values are refused.
 */
export class DeployHooks {
  readonly #parts: DeployHooksParts;

  constructor(parts: DeployHooksParts) {
    this.#parts = parts;
  }

  /**
   * Runs the global hooks for the start of a deployment. Called for each attempt, before any part
   * of it.
   *
   * @returns steps that report the progress of helm to the hooks; undefined without such hooks
   * @throws errors of the API client while it reads the release; never a failure of a hook
   */
  async begin(module: Module, run: LifecycleRun, signal: AbortSignal): Promise<ReleaseSteps | undefined> {
    if (!OF_A_DEPLOY.some((binding) => this.#isBound(binding))) return undefined;
    const facts = await this.#factsOfStep(deployedModule(module), run, signal);
    await this.#run({ type: 'deploy', binding: 'beforeInstall', facts }, run, signal);
    return {
      digest: '',
      isOpen: false,
      ignoresObjects: true,
      isTriedOnce: true,
      transform: (objects) => Promise.resolve(objects),
      beforeApply: async () => {
        await this.#run({ type: 'deploy', binding: 'afterInstall', facts }, run, signal);
        await this.#run({ type: 'deploy', binding: 'beforeLaunch', facts }, run, signal);
      },
      afterApply: async ({ revision }) => {
        const launched = { ...facts, release: { ...facts.release, revision } };
        await this.#run({ type: 'deploy', binding: 'afterLaunch', facts: launched }, run, signal);
      },
    };
  }

  /**
   * Prepares the hooks for the removal of a release. Called before the removal, while the revision
   * is still known.
   *
   * @returns runs the hooks; called when the release is gone and the files of the module still
   *   exist
   */
  async beginRemoval(
    module: DeployedModule,
    run: LifecycleRun,
    signal: AbortSignal,
  ): Promise<() => Promise<void>> {
    if (!this.#isBound('beforeUninstall')) return () => Promise.resolve();
    const facts = await this.#factsOfStep(module, run, signal);
    return () => this.#run({ type: 'deploy', binding: 'beforeUninstall', facts }, run, signal);
  }

  /** Runs the hooks at once for a deployment that is cancelled because the module is refused. */
  async notifyOfRefusal(
    module: DeployedModule,
    authorization: AuthorizationFailure,
    run: LifecycleRun,
    signal: AbortSignal,
  ): Promise<void> {
    const facts = { module, authorization };
    await this.#run({ type: 'deploy', binding: 'afterAuthFail', facts }, run, signal);
  }

  /**
   * Notifies the hooks of a module that was refused outside of a task. They run in a queue of their
   * own, because no task of the module exists.
   */
  queueUnauthorized(module: DeployedModule, authorization: AuthorizationFailure): void {
    const facts = { module, authorization };
    const runs = this.#runsOf(
      { type: 'deploy', binding: 'afterAuthFail', facts },
      this.#parts.converge.activation,
    );
    if (runs.length > 0) this.#parts.queues.get(REFUSAL_QUEUE).append(...runs);
  }

  #isBound(binding: DeployBinding): boolean {
    return this.#parts.globalHooks.runtimes.some(({ hook }) => hook.config.lifecycle[binding] !== undefined);
  }

  async #factsOfStep(
    module: DeployedModule,
    { attempt }: LifecycleRun,
    signal: AbortSignal,
  ): Promise<DeployFacts['beforeInstall']> {
    const previousRevision = await this.#parts.releases.revision(module.name, signal);
    return { module, release: { previousRevision }, attempt };
  }

  /** Runs the hooks one after another; a failure is only logged. */
  async #run(
    reason: DeployReason,
    { activation, queue, task }: LifecycleRun,
    signal: AbortSignal,
  ): Promise<void> {
    for (const hookRun of this.#runsOf(reason, activation)) {
      const run = { ...hookRun, ...originOf(task) };
      const log = taskLogger(this.#parts.log, run, queue).child({ module: reason.facts.module.name });
      const { execution, metrics } = this.#parts;
      const labels = hookLabels(run, queue);
      await run.hook.waitForTurn(signal);
      try {
        // `repeatedBy` keeps the idempotency key for all attempts of the deployment's task.
        await execution.run({ ...run, repeatedBy: task }, queue, log, signal);
        metrics.hookResult(labels, 'success');
      } catch (error) {
        rethrowAbort(error, signal);
        metrics.hookResult(labels, 'allowed-error');
        log.error(errorFields(error), 'Deploy hook failed, the deploy continues');
      }
    }
  }

  #runsOf(reason: DeployReason, activation: string): readonly GlobalHookRun[] {
    return runtimesInOrder(this.#parts.globalHooks.runtimes, reason.binding).map((hook) =>
      this.#runOf(hook, reason, activation),
    );
  }

  #runOf(hook: HookRuntime, reason: DeployReason, activation: string): GlobalHookRun {
    return {
      type: 'GlobalHookRun',
      hook,
      binding: reason.binding,
      reasons: [reason],
      allowFailure: true,
      trigger: 'Deploy',
      activation,
      ...(this.#parts.policy.deployHookTimeoutMs === undefined
        ? {}
        : { fallbackTimeoutMs: this.#parts.policy.deployHookTimeoutMs }),
    };
  }
}

/** The module in the format of hooks. */
export function deployedModule({ name, path, version }: Module): DeployedModule {
  return { name, path, ...(version === undefined ? {} : { version }) };
}

/** The number of the current attempt at a task, from 1. */
export function attemptOf(queue: TaskQueue<Task>, task: Task): number {
  return 1 + (queue.entries.find((entry) => entry.task === task)?.failures ?? 0);
}
