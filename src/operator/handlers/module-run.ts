import type { Clock } from '@addon-operator/base/clock';
import { retryAfterOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import { combineSteps } from '../../helm/release-steps.ts';
import type { OperatorMetrics } from '../../metrics/operator-metrics.ts';
import type { ReleaseFacts } from '../../status/module-facts.ts';
import type { ConfigMapContent } from '../../values/config-map-content.ts';
import type { ValuesStore } from '../../values/values-store.ts';
import { visibleToHelm } from '../../values/visible-values.ts';
import { attemptOf, type DeployHooks } from '../deploy-hooks.ts';
import type { DynamicFlags } from '../dynamic-flags.ts';
import { startMonitors } from '../hook-runtime.ts';
import type { ModuleRegistry } from '../module-registry.ts';
import { stageOf } from '../module-state.ts';
import { type RefusedModulesParts, verificationSteps } from '../refused-modules.ts';
import type { Releases } from '../releases.ts';
import type { HookBindings, ModuleCrds, ModuleExtensions } from '../services.ts';
import { formatSetByHooks, setByHooks } from '../set-by-hooks.ts';
import { isSynchronization, type ModuleRun, type Task } from '../tasks.ts';
import type { TrackedModule } from '../tracked-module.ts';
import {
  type EnableGlobalHookParts,
  queuedSynchronizations,
  queueSynchronizations,
} from './enable-global-hook.ts';
import {
  ensureHooks,
  type LifecycleRun,
  type ModuleLifecycleParts,
  runLifecycleHooks,
} from './module-lifecycle.ts';
import { prepareFirst, prepareNext } from './prepare-deployment.ts';

/** What the functions here use of the operator. */
export type ModuleRunParts = {
  readonly registry: ModuleRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly releases: Releases;
  readonly crds: ModuleCrds;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  readonly bindings: Pick<HookBindings, 'setSchedules' | 'setWebhooks'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'httpHooks' | 'releaseSteps'>;
  readonly deployHooks: DeployHooks;
} & EnableGlobalHookParts &
  ModuleLifecycleParts &
  RefusedModulesParts;

/** What one step says: go on with the phase the state has now, or stop here with an outcome. */
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
 * Brings one module through its phases, from the one it is in.
 *
 * @throws what fails on the way; the phase stays, so that the next attempt goes on there
 */
export async function runModule(
  operator: ModuleRunParts,
  { tracked, task, queue, isForced }: ModuleRunRequest,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { clock, metrics } = operator;
  const startedMs = clock.steadyMs();
  try {
    for (;;) {
      // Changed files have stopped it meanwhile: it starts anew, or is not authorized any more.
      if (operator.registry.tracked.get(task.module) !== tracked) return { type: 'repeat' };
      const step = await runPhase(operator, { tracked, task, queue, isForced }, signal);
      if (step.type === 'next') continue;
      if (step.outcome.type === 'success') tracked.history.noteRun(startedMs, clock, 'success');
      return step.outcome;
    }
  } finally {
    metrics.moduleRun(
      { module: task.module, activation: task.activation },
      (clock.steadyMs() - startedMs) / 1_000,
    );
  }
}

function runIn(task: ModuleRun, queue: TaskQueue<Task>): LifecycleRun {
  const { activation, continues = task } = task;
  return { activation, queue: queue.name, task: continues, attempt: attemptOf(queue, task) };
}

async function runPhase(
  operator: ModuleRunParts,
  request: ModuleRunRequest,
  signal: AbortSignal,
): Promise<Step> {
  const { tracked, task, queue } = request;
  const stage = stageOf(tracked.state);
  switch (stage.type) {
    case 'starting':
      if (stage.hooks === undefined) {
        operator.journal.enterPhase(queue.name, 'load-hooks');
        await ensureHooks(operator, tracked, signal);
        return NEXT;
      }
      await operator.bindings.setWebhooks(stage.hooks, true, signal);
      await runLifecycleHooks(operator, tracked, 'onStartup', runIn(task, queue), signal);
      tracked.apply({ type: 'startup-done' });
      return NEXT;
    case 'synchronizing':
      if (stage.areMonitorsStarted) return waitForSynchronization(operator, tracked, task, queue);
      operator.journal.enterPhase(queue.name, 'synchronization');
      await startMonitors(stage.hooks, signal);
      tracked.apply({ type: 'monitors-started' });
      return repeatAfter(queueSynchronizations(operator, stage.hooks, task));
    case 'deploying':
    case 'ready': {
      const lost = queueLostSynchronizations(operator, tracked, task);
      if (lost.length > 0) return repeatAfter(lost);
      // Also of a module that was disabled for a moment: discovery had ended them.
      for (const runtime of stage.hooks) operator.bindings.setSchedules(runtime, true);
      return { type: 'stop', outcome: await runHelmPhase(operator, request, signal) };
    }
  }
}

function repeatAfter(before: readonly Task[]): Step {
  return before.length === 0 ? NEXT : { type: 'stop', outcome: { type: 'repeat', before } };
}

function waitForSynchronization(
  operator: ModuleRunParts,
  tracked: TrackedModule,
  task: ModuleRun,
  queue: TaskQueue<Task>,
): Step {
  const { synchronization, module } = tracked;
  if (synchronization.isDone) {
    tracked.apply({ type: 'synchronized' });
    return NEXT;
  }
  // A converge that was started over may have left them behind this task, where they would wait for ever.
  const isOwn = (other: Task): boolean =>
    other.type === 'ModuleHookRun' && other.module === module.name && isSynchronization(other);
  const stranded = queue.remove(isOwn);
  if (stranded.length > 0) return repeatAfter(stranded);
  const lost = queueLostSynchronizations(operator, tracked, task);
  if (lost.length > 0) return repeatAfter(lost);
  return { type: 'stop', outcome: { type: 'repeat', when: synchronization.whenDone() } };
}

/**
 * Makes those Synchronizations anew that a converge dropped when it was started over, or that were skipped while the
 * module was disabled for a moment. Returns those for `main`.
 */
function queueLostSynchronizations(
  operator: ModuleRunParts,
  { hooks, synchronization }: TrackedModule,
  task: ModuleRun,
): readonly Task[] {
  const queued = queuedSynchronizations(operator);
  return queueSynchronizations(
    operator,
    hooks ?? [],
    task,
    (binding) =>
      synchronization.isPending(binding) && (synchronization.isLost(binding) || !queued.has(binding)),
  );
}

async function runHelmPhase(
  operator: ModuleRunParts,
  { tracked, task, queue, isForced }: ModuleRunRequest,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { values, releases, crds, log, metrics, clock } = operator;
  const { module } = tracked;
  const run = runIn(task, queue);
  const resumeMonitor = releases.pauseMonitor(module.name);
  try {
    await operator.extensions.finalizers?.hold(module, signal);
    prepareFirst(operator, tracked, operator.journal.spanIn(queue.name), signal);
    const deploySteps =
      module.chart === 'none' ? undefined : await operator.deployHooks.begin(module, run, signal);
    if (tracked.mustRepeatStartup) await runLifecycleHooks(operator, tracked, 'onStartup', run, signal);
    await runLifecycleHooks(operator, tracked, 'beforeHelm', run, signal);
    if (module.chart !== 'none') {
      const helmStartedMs = clock.steadyMs();
      operator.journal.enterPhase(queue.name, 'helm');
      // Another client may have deleted them after the module started.
      if (tracked.hasDeployFailed && crds.has(module.name)) await crds.ensure(module.name, signal);
      values.checkForHelm(module.name);
      const options = {
        mayShareReads: task.isPartOfConverge,
        isUnmanaged: operator.configMapContent().maintenance.has(module.key),
        isForced,
        note: formatSetByHooks(setByHooks(operator, module.name)),
        onApply: () => prepareNext(operator, queue, signal),
        span: operator.journal.spanIn(queue.name),
        steps: combineSteps([
          await operator.extensions.releaseSteps(module, signal),
          verificationSteps(operator, module, run),
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
    } else {
      log.info({ module: module.name }, 'neither Chart.yaml nor templates/: hooks only, no release');
    }
    if (module.chart === 'none')
      await operator.extensions.httpHooks?.preReconcileWithoutChart(module, signal);
    const before = values.checksum(module.name);
    await runLifecycleHooks(operator, tracked, 'afterHelm', run, signal);
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
    // What is only not yet time for needs no new start.
    if (retryAfterOf(error) === undefined) tracked.apply({ type: 'deploy-failed' });
    throw error;
  } finally {
    resumeMonitor();
  }
}
