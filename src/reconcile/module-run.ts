import type { Clock } from '@addon-operator/base/clock';
import { retryAfterOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { Synchronizations } from '../hook-runs/synchronizations.ts';
import type { Journal } from '../journal/journal.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { startMonitors } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { stageOf } from '../model/module-state.ts';
import type { Releases } from '../model/releases.ts';
import type { HookBindings, ModuleExtensions } from '../model/services.ts';
import { isSynchronization, type ModuleRun, type Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { Module } from '../modules/module.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { attemptOf } from './deploy-hooks.ts';
import type { ModuleDeployment } from './deploy-module.ts';
import type { LifecycleRun, ModuleLifecycle } from './module-lifecycle.ts';
import type { ModuleMemory } from './module-memory.ts';
import { wellFacts } from './well-facts.ts';

/** The parts that module runs use. */
export interface ModuleRunnerParts {
  readonly registry: ModuleRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly values: ValuesStore;
  readonly releases: Pick<Releases, 'pauseMonitor'>;
  readonly bindings: Pick<HookBindings, 'serveLateTicks' | 'setSchedules' | 'setWebhooks'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'httpHooks'>;
  readonly journal: Pick<Journal, 'attemptIn' | 'enterPhase' | 'knownValues' | 'wells'>;
  readonly memory: Pick<ModuleMemory, 'filesOf'>;
  readonly lifecycle: ModuleLifecycle;
  readonly synchronizations: Synchronizations;
  readonly deployment: ModuleDeployment;
}

/** The result of one phase: continue with the phase of the new state, or stop with an outcome. */
type Step = { readonly type: 'next' } | { readonly type: 'stop'; readonly outcome: TaskOutcome<Task> };

const NEXT: Step = { type: 'next' };

export interface ModuleRunRequest {
  readonly tracked: TrackedModule;
  readonly task: ModuleRun;
  readonly queue: TaskQueue<Task>;
  /** Whether helm applies the chart although nothing has changed. */
  readonly isForced: boolean;
}

/**
 * Runs modules: start-up, Synchronizations, deployment and the hooks around it. `reconcileModule()`
 * calls it for each attempt. It starts at the stage that the module's state has reached, so an
 * attempt that waits or fails repeats nothing. `deploy-module.ts` handles helm.
 */
export class ModuleRunner {
  readonly #parts: ModuleRunnerParts;

  constructor(parts: ModuleRunnerParts) {
    this.#parts = parts;
  }

  /**
   * Brings one module through its phases, from the current one.
   *
   * @throws the error of the failed phase; the state stays, so that the next attempt continues
   *   there
   */
  async run(
    { tracked, task, queue, isForced }: ModuleRunRequest,
    signal: AbortSignal,
  ): Promise<TaskOutcome<Task>> {
    const { clock, metrics } = this.#parts;
    const startedMs = clock.steadyMs();
    try {
      for (;;) {
        // A reload has replaced or removed the module: its next attempt starts with the new state.
        if (this.#parts.registry.tracked.get(task.module) !== tracked) return { type: 'repeat' };
        const step = await this.#runPhase({ tracked, task, queue, isForced }, signal);
        if (step.type === 'next') continue;
        if (step.outcome.type === 'success') {
          tracked.history.noteRun(startedMs, clock, 'success');
          this.#noteWell(tracked.module, queue.name);
        }
        return step.outcome;
      }
    } finally {
      metrics.moduleRun(
        { module: task.module, activation: task.activation },
        (clock.steadyMs() - startedMs) / 1_000,
      );
    }
  }

  /** For the comparison with a later run that fails. */
  #noteWell(module: Module, queue: string): void {
    const { clock, journal } = this.#parts;
    const run = journal.attemptIn(queue)?.id ?? 0;
    const facts = wellFacts(this.#parts, module);
    journal.wells.note({ module: module.name, atMs: clock.wallMs(), run, facts });
  }

  async #runPhase(request: ModuleRunRequest, signal: AbortSignal): Promise<Step> {
    const { bindings, journal, lifecycle, synchronizations } = this.#parts;
    const { tracked, task, queue } = request;
    const stage = stageOf(tracked.state);
    switch (stage.type) {
      case 'starting':
        if (stage.hooks === undefined) {
          journal.enterPhase(queue.name, 'load-hooks');
          await lifecycle.ensureHooks(tracked, signal);
          return NEXT;
        }
        // Refused settings must not start anything, and webhooks are registered before the first hook runs.
        await lifecycle.checkSettings(tracked, signal);
        await bindings.setWebhooks(stage.hooks, true, signal);
        await lifecycle.run(tracked, 'onStartup', runIn(task, queue), signal);
        tracked.apply({ type: 'startup-done' });
        return NEXT;
      case 'synchronizing':
        if (stage.areMonitorsStarted) return this.#waitForSynchronization(tracked, task, queue);
        journal.enterPhase(queue.name, 'synchronization');
        await startMonitors(stage.hooks, signal);
        tracked.apply({ type: 'monitors-started' });
        // The Synchronizations go in front of this task in `main`; the task repeats after them.
        return repeatAfter(synchronizations.queue(stage.hooks, task));
      case 'deploying':
      case 'ready': {
        const lost = this.#queueLostSynchronizations(tracked, task);
        if (lost.length > 0) return repeatAfter(lost);
        // Discovery disables the schedules of a module that was disabled for a moment: enable them
        // again.
        for (const runtime of stage.hooks) bindings.setSchedules(runtime, true);
        bindings.serveLateTicks(task.module, stage.hooks);
        return { type: 'stop', outcome: await this.#runHelmPhase(request, signal) };
      }
    }
  }

  #waitForSynchronization(tracked: TrackedModule, task: ModuleRun, queue: TaskQueue<Task>): Step {
    const { synchronization, module } = tracked;
    const failure = synchronization.takeFailure();
    if (failure !== undefined) {
      tracked.enterPart({ type: 'hook', hook: failure.hook, binding: 'kubernetes' });
      throw failure.error;
    }
    if (synchronization.isDone) {
      tracked.apply({ type: 'synchronized' });
      return NEXT;
    }
    // A restarted converge may have left Synchronizations behind this task, which would wait for
    // them for ever.
    const isOwn = (other: Task): boolean =>
      other.type === 'ModuleHookRun' && other.module === module.name && isSynchronization(other);
    const stranded = queue.remove(isOwn);
    if (stranded.length > 0) return repeatAfter(stranded);
    const lost = this.#queueLostSynchronizations(tracked, task);
    if (lost.length > 0) return repeatAfter(lost);
    return { type: 'stop', outcome: { type: 'repeat', when: synchronization.whenDone() } };
  }

  /**
   * Queues Synchronizations again that a restarted converge dropped, or that were skipped while the
   * module was disabled for a moment. Returns those for `main`.
   */
  #queueLostSynchronizations({ hooks, synchronization }: TrackedModule, task: ModuleRun): readonly Task[] {
    const { synchronizations } = this.#parts;
    const { queued } = synchronizations;
    return synchronizations.queue(
      hooks ?? [],
      task,
      (binding) =>
        synchronization.isPending(binding) && (synchronization.isLost(binding) || !queued.has(binding)),
    );
  }

  async #runHelmPhase(
    { tracked, task, queue, isForced }: ModuleRunRequest,
    signal: AbortSignal,
  ): Promise<TaskOutcome<Task>> {
    const { deployment, extensions, lifecycle, log, releases, values } = this.#parts;
    const { module } = tracked;
    const run = runIn(task, queue);
    // While hooks and helm change objects, missing or drifted ones are no finding.
    const resumeMonitor = releases.pauseMonitor(module.name);
    try {
      // The finalizer comes first: from now on the module must not be deleted without its webhook.
      await extensions.finalizers?.hold(module, signal);
      const deploySteps = await deployment.begin({ tracked, queue, run }, signal);
      if (tracked.mustRepeatStartup) await lifecycle.run(tracked, 'onStartup', run, signal);
      await lifecycle.run(tracked, 'beforeHelm', run, signal);
      if (module.chart !== 'none')
        await deployment.deploy({ tracked, task, queue, run, isForced, deploySteps }, signal);
      else {
        log.info({ module: module.name }, 'neither Chart.yaml nor templates/: hooks only, no release');
        await extensions.httpHooks?.preReconcileWithoutChart(module, signal);
      }
      // afterHelm hooks may change values that the release uses: then the module runs once more.
      const before = values.checksum(module.name);
      await lifecycle.run(tracked, 'afterHelm', run, signal);
      const isRepeated = values.checksum(module.name) !== before;
      tracked.apply({ type: 'run-succeeded', isRepeated });
      if (isRepeated) {
        const again: ModuleRun = {
          ...task,
          doModuleStartup: false,
          isRecheck: false,
          trigger: 'AfterHelm-Hooks-Change-Values',
        };
        return { type: 'success', after: [again] };
      }
      log.info({ module: module.name }, 'ModuleRun success, module is ready');
      return { type: 'success' };
    } catch (error) {
      // A hook that asked to wait has not failed, so the start-up is not repeated.
      if (retryAfterOf(error) === undefined) tracked.apply({ type: 'deploy-failed' });
      throw error;
    } finally {
      resumeMonitor();
    }
  }
}

// The attempt is counted by the queue's entry; `continues` keeps the identity across queues.
function runIn(task: ModuleRun, queue: TaskQueue<Task>): LifecycleRun {
  const { activation, continues = task } = task;
  return { activation, queue: queue.name, task: continues, attempt: attemptOf(queue, task) };
}

function repeatAfter(before: readonly Task[]): Step {
  return before.length === 0 ? NEXT : { type: 'stop', outcome: { type: 'repeat', before } };
}
