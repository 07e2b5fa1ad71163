import { measureEventLoopDelay } from '../metrics/event-loop-delay.ts';
import { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { crowdsIn } from '../operator/compact-queue.ts';
import { isolatedModules } from '../operator/isolation.ts';
import type { Operator } from '../operator/operator.ts';
import { hookOf, moduleOf } from '../operator/tasks.ts';
import type { Settings } from '../settings.ts';

/** Hooks with more tasks than this in a queue are shown. */
const SHOWN_CROWD = 20;

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
          crowds: crowdsIn(queue, SHOWN_CROWD),
          ...(task === undefined
            ? {}
            : { head: { module: moduleOf(task), taskType: task.type, hook: hookOf(task) } }),
        };
      }),
    modules: () => {
      const built = operator();
      if (built === undefined) return [];
      const isolated = isolatedModules(built);
      return built.modules.map(({ name }) => ({
        module: name,
        isEnabled: built.isEnabled(name),
        isCritical: true,
        isPaused: built.deps.pauses.of(name) !== undefined,
        isIsolated: isolated.includes(name),
      }));
    },
  });
}
