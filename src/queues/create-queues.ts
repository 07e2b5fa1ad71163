import { type Clock, monotonicMs } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { QueueSet, type QueueSetOptions } from '@addon-operator/task-queue/queue-set';
import { EventBacklog } from '../hooks/event-backlog.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { Model } from '../model/model.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { eventIds, withOrigin } from '../model/task-origin.ts';
import type { Task } from '../model/tasks.ts';
import type { HookRunSettings } from '../settings/hook-settings.ts';
import { type FailedTask, failedTask } from './failed-task.ts';
import { countQueuedEvents, queuedEvents } from './queued-events.ts';
import { logAdded } from './task-log.ts';
import { TaskRouter, type TaskRouterDeps } from './task-router.ts';
import { eventFactsOf, TaskTraces, type TaskTracesOptions } from './task-traces.ts';

export interface QueuesOptions {
  readonly settings: Pick<HookRunSettings, 'hookBacklogMaxBytes'>;
  readonly host: {
    readonly clock: Clock;
    readonly random: () => number;
    readonly log: Logger;
    /** Called after every failed attempt of a task, before the delay starts. */
    readonly onTaskFailure?: (failed: FailedTask) => void;
  };
  readonly metrics: Pick<OperatorMetrics, 'queueAction' | 'hookBacklogDropped'>;
}

/** The state that queues read for logs and origins. */
interface QueueUsers {
  readonly registry: Pick<ModuleRegistry, 'tracked'>;
  readonly converge: ConvergeState;
  readonly traces: Pick<TaskTraces, 'newEvent'>;
}

/** The queues, with the parts that fill them. */
export interface Queueing {
  readonly queues: QueueSet<Task>;
  /** Bounds the events that wait in the queues. */
  readonly backlog: EventBacklog;
  readonly router: TaskRouter;
  readonly traces: TaskTraces;
}

export interface QueueingParts extends QueuesOptions {
  readonly metrics: QueuesOptions['metrics'] & TaskRouterDeps['metrics'];
  readonly model: Pick<Model, 'registry' | 'converge' | 'globalHooks'>;
  /** The names of traces, and their destination. */
  readonly tracing: Pick<TaskTracesOptions, 'bootId' | 'tracer'>;
}

/**
 * Creates the queues of all tasks, the limit on queued events, and the router that fills them.
 * `app/build-operator.ts` calls it; nothing runs until the pipeline is set as the handler of the
 * queues. A task passes `admit`, which gives it an origin, then is logged and counted; it leaves
 * through the pipeline or by being dropped.
 */
export function createQueueing({ settings, host, metrics, model, tracing }: QueueingParts): Queueing {
  const { registry, converge, globalHooks } = model;
  const { clock, random } = host;
  const { bootId, tracer } = tracing;
  const traces = new TaskTraces({ clock, newEventId: eventIds(random), bootId, ...(tracer && { tracer }) });
  const { queues, backlog } = createQueues({ settings, host, metrics }, { registry, converge, traces });
  const router = new TaskRouter({
    queues,
    clock,
    random,
    log: componentLog(host, 'operator'),
    metrics,
    backlog,
    registry,
    converge,
    globalHooks,
  });
  return { queues, backlog, router, traces };
}

/** The queues of all tasks, and the bound on the events that wait in them. Nothing runs yet. */
function createQueues(
  options: QueuesOptions,
  users: QueueUsers,
): { readonly queues: QueueSet<Task>; readonly backlog: EventBacklog } {
  const backlog = createBacklog(options);
  const queues = createQueueSet(options, users, countQueuedEvents(backlog));
  backlog.hold(queuedEvents(queues));
  return { queues, backlog };
}

function createBacklog({ settings, host, metrics }: QueuesOptions): EventBacklog {
  const log = componentLog(host, 'operator');
  return new EventBacklog({
    limitBytes: settings.hookBacklogMaxBytes,
    onLimit: (facts) =>
      log.warn(
        facts,
        'events that wait for hooks have reached --hook-backlog-max-bytes: only the last state of each object is kept',
      ),
    onDrop: (labels, events) => metrics.hookBacklogDropped(labels, events),
  });
}

function createQueueSet(
  { host, metrics }: QueuesOptions,
  { registry, converge, traces }: QueueUsers,
  onChange: ReturnType<typeof countQueuedEvents>,
): QueueSet<Task> {
  const { clock, random } = host;
  const log = componentLog(host, 'operator');
  return new QueueSet<Task>({
    clock,
    random,
    onFailure: (queue, entry, failure) => {
      const failed = failedTask(queue, entry, failure, converge);
      const { facts, ...fields } = failed;
      log.debug({ ...fields, ...facts }, 'attempt failed, will retry');
      host.onTaskFailure?.(failed);
    },
    measure: queueActionMeasure(monotonicMs, metrics),
    admit: (tasks, follows) =>
      withOrigin(tasks, follows, (task) => traces.newEvent(() => eventFactsOf(task))),
    onAdd: (...added) => logAdded({ registry, log }, ...added),
    onChange,
    onError: (queue, error) =>
      host.log.error(
        { queue, error },
        'internal error outside of a queue task: the queue continues; please report this',
      ),
  });
}

/**
 * Measures the duration of operations on the queues.
 *
 * @param nowMs a clock for durations; it measures microseconds, so reading it must be faster than
 *   that
 */
function queueActionMeasure(
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
