import { measureEventLoopDelay } from '../metrics/event-loop-delay.ts';
import { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { Operator } from '../operator/operator.ts';
import { hookOf, moduleOf } from '../operator/tasks.ts';
import type { Settings } from '../settings.ts';

/** The metrics of the daemon; gauges about queues and modules are read from the operator at each scrape. */
export function createMetrics(settings: Settings, operator: () => Operator | undefined): OperatorMetrics {
  return new OperatorMetrics({
    prefix: settings.metricsPrefix,
    hasQueueActions: settings.hasQueueActionMetrics,
    eventLoopDelay: measureEventLoopDelay(),
    queues: () =>
      (operator()?.deps.queues.all ?? []).map((queue) => {
        const task = queue.entriesFromRunning[0]?.task;
        return {
          queue: queue.name,
          length: queue.length,
          ...(task === undefined
            ? {}
            : { head: { module: moduleOf(task), taskType: task.type, hook: hookOf(task) } }),
        };
      }),
    modules: () =>
      (operator()?.modules ?? []).map(({ name }) => ({
        module: name,
        isEnabled: operator()?.isEnabled(name) ?? false,
        isCritical: true,
      })),
  });
}
