import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { NO_SPAN, type SpanAttributes } from '@addon-operator/base/trace';
import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { runnableHooks } from '../hook-runs/refused-hooks.ts';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { Synchronizations } from '../hook-runs/synchronizations.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { originFields, originOf } from '../model/task-origin.ts';
import { countsForConverge, type GlobalHookRun, type Task } from '../model/tasks.ts';
import { isolatedModules } from '../queues/isolation.ts';
import type { DiscoveryPass } from '../reconcile/discover-modules.ts';
import type { ModuleTasks } from '../reconcile/module-tasks.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { lifecycleRuns } from './lifecycle.ts';

/** The parts that a converge moves or queues tasks with. */
export interface ConvergeModulesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly queues: QueueSet<Task>;
  readonly values: ValuesStore;
  readonly discovery: DiscoveryPass;
  readonly moduleTasks: ModuleTasks;
  readonly synchronizations: Synchronizations;
}

type ConvergeTask = Extract<Task, { type: 'ConvergeModules' }>;

/** The delay after a failed discovery, in milliseconds; without back-off. */
export const DISCOVERY_RETRY_MS = 5_000;

/**
 * Handles ConvergeModules: brings all modules to the desired state, in phases. beforeAll hooks,
 * discovery, deletion of disabled modules and runs of enabled ones, afterAll hooks. In each phase
 * it puts tasks in front of itself in `main` and repeats when they are done, so the converge is
 * interrupted by restarting it (`TaskRouter.restartConverge`), and a failing task in front delays
 * it.
 */
export async function handleConvergeModules(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  // The phase is state of the converge, not of the task: a restarted one begins in standby again.
  switch (operator.converge.phase) {
    case 'standby':
      begin(operator, entry, task, queue);
      operator.converge.enter('wait-before-all');
      return { type: 'repeat', before: hookRuns(operator, 'beforeAll', task) };
    case 'wait-before-all':
      return discover(operator, entry, task, queue, signal);
    case 'wait-modules':
      operator.converge.enter('wait-after-all');
      return { type: 'repeat', before: afterAllRuns(operator, task) };
    case 'wait-after-all':
      operator.converge.enter('standby');
      end(operator, entry, task, queue);
      return { type: 'success' };
  }
}

/** Records the start of a converge, and takes following ConvergeModules tasks into it. */
function begin(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
): void {
  // Queued converges are merged: the second of two in a row would do nothing.
  queue.takeFollowing(entry, (other) => other.type === 'ConvergeModules');
  const { event, root, eventId } = task;
  const atMs = operator.clock.steadyMs();
  // A restarted converge keeps its start, so that its duration covers the interruption.
  operator.converge.begin({ atMs, event }, () => {
    const attributes = { 'addon_operator.event.id': eventId, 'addon_operator.event.type': event };
    return (root?.span ?? NO_SPAN).child({ name: 'converge', startMs: atMs, attributes });
  });
}

/**
 * Discovers the enabled modules, and puts the tasks for the result in front of the converge. A
 * failed discovery is retried, and no module changes until then.
 */
async function discover(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { converge, discovery, log, metrics, moduleTasks, synchronizations } = operator;
  try {
    // A restarted converge discovers by itself: this attempt must not touch its phase.
    const isCurrent = (): boolean => queue.entries.some(({ id }) => id === entry.id);
    const found = await discovery.discover(queue.name, isCurrent, signal);
    if (found.type === 'superseded' || !isCurrent()) return { type: 'success' };
    // New values come before module runs, since a change before the first discovery runs no module by
    // itself. They may wait behind this attempt, if a reload of files restarted the converge.
    const values = queue.remove((other) => other.type === 'ApplyKubeConfigValues');
    if (found.type === 'outdated' || values.length > 0) return { type: 'repeat', before: values };
    converge.enter('wait-modules');
    return {
      type: 'repeat',
      // Missed Synchronizations come first, because module runs wait for them.
      before: [...synchronizations.queueMissed(task), ...moduleTasks.create(found.releases, task)],
    };
  } catch (error) {
    rethrowAbort(error, signal);
    metrics.modulesDiscoverError();
    log.error(
      { ...errorFields(error), delayMs: DISCOVERY_RETRY_MS },
      'ConvergeModules failed, requeue task to retry after delay.',
    );
    return { type: 'retry', error, delayMs: DISCOVERY_RETRY_MS };
  }
}

/** The numbers of modules for the span of the converge. */
function moduleCounts(operator: Pick<ConvergeModulesParts, 'queues' | 'registry'>): SpanAttributes {
  const { registry } = operator;
  return {
    'addon_operator.modules': registry.modules.length,
    'addon_operator.modules.enabled': registry.discovery?.enabled.length,
    'addon_operator.modules.isolated': isolatedModules(operator).length,
  };
}

/** The runs of the global hooks with a binding, for this converge. */
function hookRuns(
  operator: ConvergeModulesParts,
  binding: 'beforeAll' | 'afterAll',
  { trigger }: ConvergeTask,
): readonly GlobalHookRun[] {
  return lifecycleRuns(runnableHooks(operator, binding), binding, {
    trigger,
    activation: operator.converge.activation,
  });
}

/**
 * The afterAll runs. The last of them compares the global values with those before the first one.
 */
function afterAllRuns(operator: ConvergeModulesParts, task: ConvergeTask): readonly Task[] {
  const runs = hookRuns(operator, 'afterAll', task);
  const valuesBeforeAfterAll = operator.values.checksum(GLOBAL_SECTION);
  // Only the last hook of the series compares the values: each of them may change and restore them.
  return runs.map((run, index) => (index === runs.length - 1 ? { ...run, valuesBeforeAfterAll } : run));
}

/**
 * Whether another part of the converge is still queued. A deletion may have been requested by
 * itself, without a converge.
 */
function belongsToAnother(task: Task): boolean {
  return countsForConverge(task) && task.type !== 'ModuleDelete';
}

function end(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
): void {
  const { clock, log, metrics } = operator;
  log.info({ trigger: task.trigger, ...originFields(task) }, 'ConvergeModules task done');
  if (operator.converge.unloaded.length > 0)
    log.warn(
      { unloaded: operator.converge.unloaded.map(({ what }) => what) },
      'converged, but not to the files on disk: changed files cannot be loaded, see the previous error',
    );
  // Another converge follows in this queue: the end of that one is the end of both.
  if (queue.entries.some((other) => other.id !== entry.id && belongsToAnother(other.task))) return;
  const start = operator.converge.end();
  const { atMs, event } = start ?? { atMs: clock.steadyMs(), event: task.event };
  if (start?.span.context !== undefined) start.span.set(moduleCounts(operator));
  start?.span.end();
  metrics.convergence(event, (clock.steadyMs() - atMs) / 1_000);
  if (operator.converge.first === 'done') return;
  log.info({}, 'first converge is finished. Operator is ready now.');
  operator.converge.finishFirst();
  // Releases without a module are looked for once, when everything that has a module is deployed.
  queue.append({
    type: 'DiscoverHelmReleases',
    trigger: 'Operator-PostConvergeCleanup',
    ...originOf(task),
  });
}
