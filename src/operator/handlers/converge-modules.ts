import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { NO_SPAN, type SpanAttributes, traced } from '@addon-operator/base/trace';
import type { QueueEntry, TaskOutcome, TaskQueue } from '@addon-operator/task-queue';
import type { Journal } from '../../journal/journal.ts';
import type { OperatorMetrics } from '../../metrics/operator-metrics.ts';
import type { Discovery } from '../../modules/module-discovery.ts';
import type { ConfigMapContent } from '../../values/config-map-content.ts';
import { GLOBAL_SECTION } from '../../values/module-key.ts';
import type { ValuesStore } from '../../values/values-store.ts';
import type { ConvergeState } from '../converge-state.ts';
import type { DynamicFlags } from '../dynamic-flags.ts';
import { isolatedModules } from '../isolation.ts';
import { lifecycleRuns } from '../lifecycle.ts';
import type { ModuleRegistry } from '../module-registry.ts';
import type { RefusedHooksParts } from '../refused-hooks.ts';
import { runnableHooks } from '../refused-hooks.ts';
import type { RefusedModulesParts } from '../refused-modules.ts';
import { reportRefusals } from '../refused-modules.ts';
import type { ReleaseInCluster, Releases } from '../releases.ts';
import { rethrowAbort } from '../rethrow-abort.ts';
import type { HookBindings, ModuleSources } from '../services.ts';
import { originFields, originOf } from '../task-origin.ts';
import { countsForConverge, type GlobalHookRun, type Task } from '../tasks.ts';
import type { EnableGlobalHookParts } from './enable-global-hook.ts';
import { resynchronizeMissed } from './enable-global-hook.ts';
import type { ModuleTasksParts } from './module-tasks.ts';
import { moduleTasks } from './module-tasks.ts';

/** What the functions here use of the operator. */
export type ConvergeModulesParts = {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly releases: Releases;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
  readonly sources: Pick<ModuleSources, 'discover'>;
  readonly bindings: Pick<HookBindings, 'setSchedules'>;
  readonly journal: Pick<Journal, 'spanIn'>;
} & EnableGlobalHookParts &
  ModuleTasksParts &
  RefusedHooksParts &
  RefusedModulesParts;

type ConvergeTask = Extract<Task, { type: 'ConvergeModules' }>;

/** A failed discovery is tried again after this time, always. */
export const DISCOVERY_RETRY_MS = 5_000;

/**
 * Brings all modules to the desired state, in phases: beforeAll hooks, discovery, deletion of disabled modules and runs
 * of enabled ones, afterAll hooks. In each phase it puts tasks in front of itself and goes on when they are done.
 */
export async function handleConvergeModules(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
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

function begin(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
): void {
  // Two converges in a row bring nothing that one does not.
  queue.takeFollowing(entry, (other) => other.type === 'ConvergeModules');
  const { event, root, eventId } = task;
  const atMs = operator.clock.steadyMs();
  operator.converge.begin({ atMs, event }, () => {
    const attributes = { 'addon_operator.event.id': eventId, 'addon_operator.event.type': event };
    return (root?.span ?? NO_SPAN).child({ name: 'converge', startMs: atMs, attributes });
  });
}

async function discover(
  operator: ConvergeModulesParts,
  entry: QueueEntry<Task>,
  task: ConvergeTask,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { modules } = operator.registry;
  try {
    const [content, flags] = [operator.configMapContent(), operator.dynamicFlags.all];
    const all = await operator.releases.list(signal);
    await releaseKept(operator, all, signal);
    const owned = all.filter(({ isOwned }) => isOwned);
    const releases = new Set(owned.map(({ name }) => name));
    const started = operator.registry.started;
    operator.registry.setDeployed(
      new Set(modules.map(({ name }) => name).filter((name) => started.has(name) || releases.has(name))),
    );
    const discovery = await tracedDiscovery(operator, queue, signal);
    // A converge that was started over meanwhile discovers by itself, and its phase must not be touched.
    if (!queue.entries.some(({ id }) => id === entry.id)) return { type: 'success' };
    // Before the first discovery is over, changes do not restart the converge.
    if (content !== operator.configMapContent() || flags !== operator.dynamicFlags.all)
      return { type: 'repeat' };
    logDecisions(operator, discovery);
    operator.registry.setDiscovery(discovery);
    reportRefusals(operator);
    stopSchedulesOfDisabled(operator);
    operator.converge.enter('wait-modules');
    return {
      type: 'repeat',
      before: [...resynchronizeMissed(operator, task), ...moduleTasks(operator, releases, task)],
    };
  } catch (error) {
    rethrowAbort(error, signal);
    operator.metrics.modulesDiscoverError();
    operator.log.error(
      { ...errorFields(error), delayMs: DISCOVERY_RETRY_MS },
      'ConvergeModules failed, requeue task to retry after delay.',
    );
    return { type: 'retry', error, delayMs: DISCOVERY_RETRY_MS };
  }
}

async function tracedDiscovery(
  { registry, sources, journal }: ConvergeModulesParts,
  queue: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<Discovery> {
  const { modules, deployed } = registry;
  const attributes = { 'addon_operator.modules': modules.length };
  return await traced(journal.spanIn(queue.name), 'discover', attributes, async (span) => {
    const discovery = await sources.discover(modules, deployed, signal);
    span.set({ 'addon_operator.modules.enabled': discovery.enabled.length });
    return discovery;
  });
}

/** Takes the note that a release stays from those whose modules do not say so any more. */
async function releaseKept(
  operator: ConvergeModulesParts,
  releases: readonly ReleaseInCluster[],
  signal: AbortSignal,
): Promise<void> {
  const kept = new Set<string>(releases.filter(({ isKept }) => isKept === true).map(({ name }) => name));
  for (const { name, manifest, refusal } of operator.registry.modules) {
    if (refusal !== undefined || manifest.deletionPolicy !== 'delete' || !kept.has(name)) continue;
    await operator.releases.keep(name, false, signal);
    const tracked = operator.registry.tracked.get(name);
    if (tracked !== undefined) tracked.release.noteKept(false);
  }
}

function logDecisions({ log, registry }: ConvergeModulesParts, discovery: Discovery): void {
  log.info({ modules: discovery.enabled }, 'Enabled modules');
  for (const { name: module } of registry.modules) {
    const decision = discovery.decisions.get(module);
    if (decision === undefined) continue;
    const { isEnabled, source, reason } = decision;
    if (source === 'deletion-policy') log.warn({ module, reason }, 'Module is protected and stays enabled');
    else if (source === 'requirement')
      log.warn({ module, reason }, 'Module is not enabled because of its requirements');
    else if (!isEnabled && registry.isEnabled(module))
      log.info({ module, source, reason }, 'Module is disabled');
  }
}

function stopSchedulesOfDisabled(operator: ConvergeModulesParts): void {
  for (const [name, tracked] of operator.registry.tracked) {
    if (operator.registry.isEnabled(name)) continue;
    for (const runtime of tracked.hooks ?? []) operator.bindings.setSchedules(runtime, false);
  }
}

function moduleCounts(operator: Pick<ConvergeModulesParts, 'queues' | 'registry'>): SpanAttributes {
  const { registry } = operator;
  return {
    'addon_operator.modules': registry.modules.length,
    'addon_operator.modules.enabled': registry.discovery?.enabled.length,
    'addon_operator.modules.isolated': isolatedModules(operator).length,
  };
}

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

function afterAllRuns(operator: ConvergeModulesParts, task: ConvergeTask): readonly Task[] {
  const runs = hookRuns(operator, 'afterAll', task);
  const valuesBeforeAfterAll = operator.values.checksum(GLOBAL_SECTION);
  return runs.map((run, index) => (index === runs.length - 1 ? { ...run, valuesBeforeAfterAll } : run));
}

/** A deletion behind the end of a converge was requested by another part, and no converge follows it. */
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
      { unloaded: operator.converge.unloaded },
      'converged, but not to the files on disk: changed files cannot be loaded, see the previous error',
    );
  if (queue.entries.some((other) => other.id !== entry.id && belongsToAnother(other.task))) return;
  const start = operator.converge.end();
  const { atMs, event } = start ?? { atMs: clock.steadyMs(), event: task.event };
  if (start?.span.context !== undefined) start.span.set(moduleCounts(operator));
  start?.span.end();
  metrics.convergence(event, (clock.steadyMs() - atMs) / 1_000);
  if (operator.converge.first === 'done') return;
  log.info({}, 'first converge is finished. Operator is ready now.');
  operator.converge.finishFirst();
  queue.append({
    type: 'DiscoverHelmReleases',
    trigger: 'Operator-PostConvergeCleanup',
    ...originOf(task),
  });
}
