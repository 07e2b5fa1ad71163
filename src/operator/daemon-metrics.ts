import { bindingLabels } from '../hooks/hook.ts';
import { wallTimeOf } from '../lib/clock.ts';
import { measureEventLoopDelay } from '../metrics/event-loop-delay.ts';
import { type BindingGauge, OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { QueueSetOptions } from '../queue/queue-set.ts';
import type { Settings } from '../settings.ts';
import { allRuntimes, type BindingState, statesOf } from './binding-problems.ts';
import { crowdsIn } from './compact-queue.ts';
import { isolatedModules } from './isolation.ts';
import type { Operator } from './operator.ts';
import { hookOf, moduleLabelOf, type Task } from './tasks.ts';

const MS_PER_SECOND = 1_000;
/** Hooks with more tasks than this in a queue are shown. */
const SHOWN_CROWD = 20;

/**
 * Counts how long what is done to the queues takes.
 *
 * @param nowMs a clock for durations; what it measures takes microseconds, so it must not take longer itself
 */
export function queueActionMeasure(
  nowMs: () => number,
  metrics: Pick<OperatorMetrics, 'queueAction'>,
): NonNullable<QueueSetOptions<Task>['measure']> {
  return (queue, action, act) => {
    const startedMs = nowMs();
    const result = act();
    metrics.queueAction(queue, action, (nowMs() - startedMs) / 1_000);
    return result;
  };
}

/** Undefined while nobody cares about changes. */
function driftedObjects({ deps }: Operator, module: string): number | undefined {
  const report = deps.releases.drift(module);
  return report === undefined || report.mode === 'off' ? undefined : report.objects.length;
}

function bindingGauge({ runtime, binding, health }: BindingState, { deps }: Operator): BindingGauge {
  const { lastActivityMs, watchFailure, filterFailures } = health;
  return {
    labels: bindingLabels(runtime.hook, binding),
    lastActivitySeconds:
      lastActivityMs === undefined ? undefined : wallTimeOf(lastActivityMs, deps.clock) / MS_PER_SECOND,
    failing: watchFailure && (watchFailure.isRefused ? 'forbidden' : 'unavailable'),
    filterFailedObjects: filterFailures.length,
  };
}

/** The metrics of the daemon; gauges about queues and modules are read from the operator at each scrape. */
export function createMetrics(
  settings: Pick<Settings, 'metricsPrefix' | 'hasQueueActionMetrics'>,
  { droppedLogRecords = () => 0 }: { readonly droppedLogRecords?: () => number },
  operator: () => Operator | undefined,
): OperatorMetrics {
  return new OperatorMetrics({
    prefix: settings.metricsPrefix,
    hasQueueActions: settings.hasQueueActionMetrics,
    eventLoopDelay: measureEventLoopDelay(),
    droppedLogRecords,
    runningHooks: () => operator()?.deps.execution.running.all ?? [],
    queues: () =>
      (operator()?.deps.queues.all ?? []).map((queue) => {
        const task = queue.entriesFromRunning[0]?.task;
        return {
          queue: queue.name,
          length: queue.length,
          crowds: crowdsIn(queue, SHOWN_CROWD),
          ...(task === undefined
            ? {}
            : { head: { module: moduleLabelOf(task), taskType: task.type, hook: hookOf(task) } }),
        };
      }),
    bindings: () => {
      const built = operator();
      return built === undefined
        ? []
        : statesOf(allRuntimes(built)).map((state) => bindingGauge(state, built));
    },
    backlogBytes: () => operator()?.deps.backlog.heldBytes ?? 0,
    modules: () => {
      const built = operator();
      if (built === undefined) return [];
      const isolated = isolatedModules(built);
      const { maintenance } = built.deps.configMapContent();
      return built.registry.modules.map(({ name, key, refusal }) => ({
        module: name,
        isEnabled: built.registry.isEnabled(name),
        isCritical: true,
        isPaused: built.deps.pauses.of(name) !== undefined,
        isIsolated: isolated.includes(name),
        isUnauthorized: refusal !== undefined,
        driftedObjects: driftedObjects(built, name),
        ...(maintenance.has(key) && { maintenance: 'NoResourceReconciliation' as const }),
      }));
    },
  });
}
