import { type Clock, wallTimeOf } from '@addon-operator/base/clock';
import type { QueueEntry, TaskQueue } from '@addon-operator/task-queue';
import type { EventBacklog } from '../hooks/event-backlog.ts';
import { bindingLabels, fullName, moduleNameOf } from '../hooks/hook.ts';
import { measureEventLoopDelay } from '../metrics/event-loop-delay.ts';
import {
  type BindingGauge,
  type OperatorGauges,
  OperatorMetrics,
  type QueueGauge,
} from '../metrics/operator-metrics.ts';
import { hookOf, moduleLabelOf, type Task } from '../model/tasks.ts';
import { allRuntimes, type BindingState, statesOf } from '../queues/binding-problems.ts';
import { crowdsIn } from '../queues/compact-queue.ts';
import { isolatedModules } from '../queues/isolation.ts';
import type { MetricsSettings } from '../settings/server-settings.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import { moduleStatuses } from './explain-module.ts';
import type { Explained } from './explained.ts';

const MS_PER_SECOND = 1_000;
/** Hooks with more tasks than this in a queue get a series. */
const SHOWN_CROWD = 20;

/**
 * The parts that gauges are read from. They are read at each scrape, so that nothing has to be
 * updated on every change.
 */
export interface GaugesParts extends Explained {
  readonly backlog: Pick<EventBacklog, 'heldBytes'>;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
}

/** The number of objects with drift; undefined while drift is not detected. */
function driftedObjects(operator: Pick<GaugesParts, 'releases'>, module: string): number | undefined {
  const report = operator.releases.drift(module);
  return report === undefined || report.mode === 'off' ? undefined : report.objects.length;
}

/**
 * The health of one kubernetes binding. The activity is a wall time, so that a query can compute
 * its age.
 */
function bindingGauge({ runtime, binding, health }: BindingState, operator: GaugesParts): BindingGauge {
  const { lastActivityMs, watchFailure, filterFailures } = health;
  return {
    labels: bindingLabels(runtime.hook, binding),
    lastActivitySeconds:
      lastActivityMs === undefined ? undefined : wallTimeOf(lastActivityMs, operator.clock) / MS_PER_SECOND,
    // A refusal needs an action of a user, anything else may pass by itself.
    failing: watchFailure && (watchFailure.isRefused ? 'forbidden' : 'unavailable'),
    filterFailedObjects: filterFailures.length,
  };
}

/** Grouped by hook and queue; all keys of a queue together, because keys are unbounded. */
function heldGauges({ router }: GaugesParts): ReturnType<OperatorGauges['unfinishedHooks']>['held'] {
  const groups = Map.groupBy(
    router.held.all,
    ({ hook: { hook }, baseQueue }) => `${fullName(hook)} ${baseQueue}`,
  );
  return [...groups.values()].flatMap((runs) => {
    const [first] = runs;
    if (first === undefined) return [];
    const { hook } = first.hook;
    const contexts = runs.reduce((sum, run) => sum + run.contexts, 0);
    return [{ module: moduleNameOf(hook), hook: hook.name, queue: first.baseQueue, contexts }];
  });
}

/** The queue label: all keys of a queue share one series. */
function labelOf(queue: TaskQueue<Task> | undefined, name: string): string {
  return queue?.lane?.queue ?? name;
}

/**
 * The gauge of a queue with all its keys.
 *
 * @param queues the head shown is the one with the most failures
 */
function queueGauge(name: string, queues: readonly TaskQueue<Task>[], clock: Clock): QueueGauge {
  const heads = queues.flatMap((queue) => {
    const head = queue.entriesFromRunning[0];
    return head === undefined ? [] : [headGauge(queue, head, clock)];
  });
  const [head] = heads.toSorted((a, b) => b.failures - a.failures);
  return {
    queue: name,
    length: queues.reduce((sum, queue) => sum + queue.length, 0),
    crowds: crowdsIn(queues, SHOWN_CROWD),
    ...(head !== undefined && { head }),
  };
}

/** The head of a queue: what an alert about a stuck queue has to name. */
function headGauge(
  queue: TaskQueue<Task>,
  { task, failures, startedMs }: QueueEntry<Task>,
  clock: Clock,
): NonNullable<QueueGauge['head']> {
  const { status } = queue;
  return {
    module: moduleLabelOf(task),
    taskType: task.type,
    hook: hookOf(task),
    failures,
    sinceSeconds: startedMs === undefined ? undefined : wallTimeOf(startedMs, clock) / MS_PER_SECOND,
    nextAttemptSeconds: seconds(status.type === 'delayed' ? status.retryAtMs : undefined),
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / MS_PER_SECOND;
}

/**
 * Creates the metrics of the daemon; gauges about queues, hooks and modules are added by {@link
 * operatorGauges}.
 */
export function createMetrics(
  settings: MetricsSettings,
  host: { readonly version: string; readonly droppedLogRecords?: () => number },
): OperatorMetrics {
  return new OperatorMetrics({
    prefix: settings.metricsPrefix,
    hasQueueActions: settings.hasQueueActionMetrics,
    version: host.version,
    eventLoopDelay: measureEventLoopDelay(),
    droppedLogRecords: host.droppedLogRecords ?? (() => 0),
  });
}

/** The gauges about queues, hooks and modules. */
export function operatorGauges(operator: GaugesParts): OperatorGauges {
  const { registry } = operator;
  return {
    runningHooks: () =>
      operator.execution.running.all.map((run) => {
        const { labels } = run;
        return {
          ...run,
          labels: { ...labels, queue: labelOf(operator.queues.find(labels.queue), labels.queue) },
        };
      }),
    queues: () =>
      [...Map.groupBy(operator.queues.all, (queue) => labelOf(queue, queue.name))].map(([name, queues]) =>
        queueGauge(name, queues, operator.clock),
      ),
    bindings: () => statesOf(allRuntimes(operator)).map((state) => bindingGauge(state, operator)),
    unfinishedHooks: () => ({
      failed: allRuntimes(operator).flatMap(({ hook, finalFailures }) =>
        finalFailures.map(({ binding }) => ({ module: moduleNameOf(hook), hook: hook.name, binding })),
      ),
      held: heldGauges(operator),
    }),
    backlogBytes: () => operator.backlog.heldBytes,
    modules: () => {
      const isolated = isolatedModules(operator);
      const { maintenance } = operator.configMapContent();
      // All statuses at once: each of them would read all queues.
      const statuses = moduleStatuses(operator);
      return registry.modules.map(({ name, key, refusal }) => ({
        module: name,
        isEnabled: registry.isEnabled(name),
        // Always true: the field exists for compatibility with the metrics of the Go operator.
        isCritical: true,
        status: statuses.get(name) ?? 'undecided',
        lastSuccessSeconds: seconds(registry.tracked.get(name)?.history.lastSuccessAtMs),
        isPaused: operator.pauses.of(name) !== undefined,
        isIsolated: isolated.includes(name),
        isUnauthorized: refusal !== undefined,
        driftedObjects: driftedObjects(operator, name),
        ...(maintenance.has(key) && { maintenance: 'NoResourceReconciliation' as const }),
      }));
    },
  };
}
