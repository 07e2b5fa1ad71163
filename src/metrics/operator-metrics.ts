/**
 * The metrics of the operator about itself. Every room gets this object and calls its methods when something happens;
 * gauges of states (queues, modules, bindings) are read from `OperatorGauges` at each scrape, so that they need no updates.
 * `server/start-probes.ts` serves `scrape()`. Names, labels and help are in `metric-table.ts`; process metrics come from
 * prom-client. Methods never throw and never wait.
 */

import { collectDefaultMetrics, Registry } from 'prom-client';
import { type DeliveryGauges, NO_DELIVERY_GAUGES, setDeliveryGauges } from './delivery-gauges.ts';
import {
  type DelayHistogram,
  type EventLoopDelay,
  eventLoopDelay,
  eventLoopDelayMetric,
} from './event-loop-delay.ts';
import { exposition } from './exposition.ts';
import { Instrument } from './instrument.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { metricName } from './metric-definition.ts';
import { METRICS } from './metric-table.ts';
import { WATCH_ERRORS } from './watch-errors.ts';

/** The labels of a hook run. */
export interface HookRunLabels {
  /** Absent for a global hook. */
  readonly module?: string;
  /** `hooks/a.sh` of a module, the path below the hooks directory for a global hook. */
  readonly hook: string;
  /** Type of the binding, such as `onStartup` or `kubernetes`. */
  readonly binding: string;
  readonly queue: string;
  /** `OperatorStartup` for what the start caused, else empty. */
  readonly activation: string;
}

/** The result of a run of a `GlobalHookRun` or `ModuleHookRun` task. */
export type HookTaskResult = 'success' | 'error' | 'allowed-error';

/** The labels of metrics about one kubernetes binding. */
export interface BindingLabels {
  /** Empty for a global hook. */
  readonly module: string;
  readonly hook: string;
  /** Name of the binding. */
  readonly binding: string;
  readonly queue: string;
  readonly kind: string;
}

/** How far the snapshot of one kubernetes binding can be trusted. */
export interface BindingGauge {
  readonly labels: BindingLabels;
  /** When the API server last confirmed it, in seconds since 1970; undefined before the first list. */
  readonly lastActivitySeconds: number | undefined;
  /** Why it cannot be listed or watched; undefined while it can. */
  readonly failing: 'forbidden' | 'unavailable' | undefined;
  readonly filterFailedObjects: number;
}

/** Memory and CPU time of a finished process. */
export interface UsageFigures {
  readonly userCpuMs: number;
  readonly systemCpuMs: number;
  readonly maxRssBytes: number;
}

/** One queue as the metrics show it; `module` and `hook` are empty where the head task has none. */
export interface QueueGauge {
  readonly queue: string;
  readonly length: number;
  readonly head?: {
    readonly module: string;
    readonly taskType: string;
    readonly hook: string;
    readonly failures: number;
    /** When its first attempt began, in seconds since 1970; undefined before. */
    readonly sinceSeconds: number | undefined;
    /** When it is tried again after a failure, in seconds since 1970; undefined while it does not wait for that. */
    readonly nextAttemptSeconds: number | undefined;
  };
  /** Number of tasks by hook, of hooks that have many. */
  readonly crowds: ReadonlyMap<string, number>;
}

/** One known module as `mm_module_info` shows it. */
export interface ModuleGauge {
  readonly module: string;
  readonly isEnabled: boolean;
  readonly isCritical: boolean;
  /** As `module list` shows it. */
  readonly status: string;
  /** When its last successful run ended, in seconds since 1970; undefined before. */
  readonly lastSuccessSeconds: number | undefined;
  readonly isPaused?: boolean;
  readonly isUnauthorized?: boolean;
  readonly isIsolated?: boolean;
  /** Objects of its release that other clients have changed; undefined without drift detection. */
  readonly driftedObjects?: number | undefined;
  /** Set while helm leaves the release alone. */
  readonly maintenance?: 'NoResourceReconciliation';
}

export type HelmOperation = 'template' | 'check-upgrade' | 'upgrade';

export interface OperatorMetricsOptions {
  /** Precedes every name, nothing is added between. */
  readonly prefix: string;
  /** Whether queue operations are measured. */
  readonly hasQueueActions: boolean;
  /** Of the operator. */
  readonly version: string;
  /** Delays of the event loop since the start. */
  readonly eventLoopDelay: DelayHistogram;
  /** Called at each scrape: log records dropped since the start. Default: none. */
  readonly droppedLogRecords?: () => number;
}

/** The sources that gauges read at each scrape. */
export interface OperatorGauges {
  /** Hooks that run now, the longest running first. */
  readonly runningHooks: () => readonly {
    readonly labels: HookRunLabels;
    readonly startedAtMs: number;
  }[];
  readonly queues: () => readonly QueueGauge[];
  /** Size of the events that wait in the queues. */
  readonly backlogBytes: () => number;
  /** All known modules after the last discovery. */
  readonly modules: () => readonly ModuleGauge[];
  /** All kubernetes bindings of loaded hooks. */
  readonly bindings: () => readonly BindingGauge[];
  readonly unfinishedHooks: () => UnfinishedHooks;
}

/** Hook runs that are not finished and not in a queue; `module` is empty for global hooks. */
interface UnfinishedHooks {
  readonly failed: readonly { readonly module: string; readonly hook: string; readonly binding: string }[];
  readonly held: readonly {
    readonly module: string;
    readonly hook: string;
    readonly queue: string;
    readonly contexts: number;
  }[];
}

const NO_GAUGES: OperatorGauges = {
  runningHooks: () => [],
  queues: () => [],
  backlogBytes: () => 0,
  modules: () => [],
  bindings: () => [],
  unfinishedHooks: () => ({ failed: [], held: [] }),
};

type LabelOf<D> = D extends MetricDefinition<infer L> ? L : never;
type Instruments = {
  readonly [Name in keyof typeof METRICS]: Instrument<LabelOf<(typeof METRICS)[Name]>>;
};

const MS_PER_SECOND = 1_000;
/**
 * Gauges of prom-client with the intervals of a second timer. Those of the histogram of delays say the same, and each
 * timer is half of what an idle daemon does.
 */
const EVENT_LOOP_INTERVALS = /^nodejs_eventloop_lag_(?!seconds$)/u;
/** The longest interval of that timer. */
const NEVER_MS = 2 ** 31 - 1;

/** The metrics about the daemon itself, in a registry of their own. Durations are seconds unless named otherwise. */
export class OperatorMetrics {
  /** Of the process and of Node. */
  readonly #registry = new Registry();
  readonly #metrics: Instruments;
  readonly #options: OperatorMetricsOptions;
  #gauges = NO_GAUGES;
  #delivery: () => Promise<DeliveryGauges> = async () => await Promise.resolve(NO_DELIVERY_GAUGES);

  constructor(options: OperatorMetricsOptions) {
    const instruments = Object.entries(METRICS).map(
      ([key, definition]) =>
        [key, new Instrument<string>(metricName(definition.name, options.prefix), definition)] as const,
    );
    this.#metrics = Object.fromEntries(instruments) as unknown as Instruments;
    this.#options = options;
    this.#metrics.buildInfo.set({ version: options.version }, 1);
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (EVENT_LOOP_INTERVALS.test(name)) this.#registry.removeSingleMetric(name);
    }
  }

  /** Reads gauges from here at each scrape; before this call they have no series. */
  show(gauges: OperatorGauges): void {
    this.#gauges = gauges;
  }

  /** Reads gauges of modules of sources from here at each scrape; before this call they have no series. */
  showDelivery(read: () => Promise<DeliveryGauges>): void {
    this.#delivery = read;
  }

  /** Content of a module was pulled into the store. */
  modulePulled(seconds: number): void {
    this.#metrics.pullSeconds.observe({}, seconds);
  }

  /** How late the event loop was since the start. */
  get eventLoopDelay(): EventLoopDelay {
    return eventLoopDelay(this.#options.eventLoopDelay);
  }

  /** All series in the Prometheus text format. */
  async scrape(): Promise<string> {
    this.#readQueues();
    this.#readModules();
    this.#metrics.hookBacklog.set({}, this.#gauges.backlogBytes());
    this.#readBindings();
    this.#readLog();
    this.#readHooks();
    setDeliveryGauges(this.#metrics, await this.#delivery());
    const { prefix, eventLoopDelay: histogram } = this.#options;
    const own = Object.values(this.#metrics).map((instrument) => instrument.text());
    const process = await this.#registry.metrics();
    return `${own.join('')}${process}${exposition([eventLoopDelayMetric(prefix, histogram)])}`;
  }

  /** The count comes from the log itself, which cannot depend on metrics. */
  #readLog(): void {
    const { droppedLogRecords } = this.#metrics;
    droppedLogRecords.reset();
    droppedLogRecords.inc({}, this.#options.droppedLogRecords?.() ?? 0);
  }

  /** Gauges of hooks in progress, and of runs that wait outside of queues. */
  #readHooks(): void {
    const { hookRunningSince } = this.#metrics;
    // The oldest run of a series is set last and wins.
    hookRunningSince.reset();
    for (const { labels, startedAtMs } of this.#gauges.runningHooks().toReversed()) {
      const { module = '', hook, binding, queue } = labels;
      hookRunningSince.set({ module, hook, binding, queue }, startedAtMs / MS_PER_SECOND);
    }
    const { hookFailedPermanently, hookHeldContexts } = this.#metrics;
    for (const gauge of [hookFailedPermanently, hookHeldContexts]) gauge.reset();
    const { failed, held } = this.#gauges.unfinishedHooks();
    for (const labels of failed) hookFailedPermanently.set(labels, 1);
    for (const { contexts, ...labels } of held) hookHeldContexts.set(labels, contexts);
  }

  /** Gauges of queues are rebuilt at each scrape, so that series of vanished queues do not stay. */
  #readQueues(): void {
    const { queueLength, queueHead, queueHeadSince, queueHeadFailures, queueNextAttempt, queueCrowds } =
      this.#metrics;
    for (const gauge of [
      queueLength,
      queueHead,
      queueHeadSince,
      queueHeadFailures,
      queueNextAttempt,
      queueCrowds,
    ])
      gauge.reset();
    for (const { queue, length, head, crowds } of this.#gauges.queues()) {
      for (const [hook, tasks] of crowds) queueCrowds.set({ queue_name: queue, hook }, tasks);
      queueLength.set({ queue }, length);
      if (head === undefined) continue;
      const { module, taskType, hook, failures, sinceSeconds, nextAttemptSeconds } = head;
      queueHead.set({ queue, module, task_type: taskType, hook }, 1);
      queueHeadFailures.set({ queue }, failures);
      if (sinceSeconds !== undefined) queueHeadSince.set({ queue }, sinceSeconds);
      if (nextAttemptSeconds !== undefined) queueNextAttempt.set({ queue }, nextAttemptSeconds);
    }
  }

  /** Gauges of watches; a series is absent where there is nothing wrong. */
  #readBindings(): void {
    const { watchLastActivity, watchFailing, filterFailedObjects } = this.#metrics;
    for (const gauge of [watchLastActivity, watchFailing, filterFailedObjects]) gauge.reset();
    for (const binding of this.#gauges.bindings()) {
      const { labels, lastActivitySeconds, failing } = binding;
      if (lastActivitySeconds !== undefined) watchLastActivity.set(labels, lastActivitySeconds);
      if (failing !== undefined) watchFailing.set({ ...labels, reason: failing }, 1);
      if (binding.filterFailedObjects > 0) filterFailedObjects.set(labels, binding.filterFailedObjects);
    }
  }

  /** Gauges of modules; most are absent while their state is false, to keep the number of series small. */
  #readModules(): void {
    const metrics = this.#metrics;
    for (const gauge of [
      metrics.moduleInfo,
      metrics.moduleStatus,
      metrics.moduleLastSuccess,
      metrics.moduleMaintenance,
      metrics.modulePaused,
      metrics.moduleIsolated,
      metrics.moduleUnauthorized,
      metrics.moduleDrift,
    ])
      gauge.reset();
    for (const one of this.#gauges.modules()) {
      const { module, status, lastSuccessSeconds, driftedObjects, maintenance } = one;
      metrics.moduleInfo.set({ module, enabled: String(one.isEnabled), critical: String(one.isCritical) }, 1);
      metrics.moduleStatus.set({ module, status }, 1);
      if (lastSuccessSeconds !== undefined) metrics.moduleLastSuccess.set({ module }, lastSuccessSeconds);
      if (maintenance !== undefined) metrics.moduleMaintenance.set({ module, state: maintenance }, 1);
      if (one.isPaused === true) metrics.modulePaused.set({ module }, 1);
      if (one.isUnauthorized === true) metrics.moduleUnauthorized.set({ module }, 1);
      if (one.isIsolated === true) metrics.moduleIsolated.set({ module }, 1);
      if (driftedObjects !== undefined) metrics.moduleDrift.set({ module }, driftedObjects);
    }
  }

  /** To be called every 10 seconds. */
  liveTick(): void {
    this.#metrics.liveTicks.inc({});
  }

  /** @param module empty for a global hook */
  setBindingCount(module: string, hook: string, bindings: number): void {
    this.#metrics.bindingCount.set({ module, hook }, bindings);
  }

  /** To be called every 5 seconds while the ConfigMap is invalid. */
  configValuesError(): void {
    this.#metrics.configValuesErrors.inc({});
  }

  /** A discovery of modules, or a change of the ConfigMap, could not be applied. */
  modulesDiscoverError(): void {
    this.#metrics.modulesDiscoverErrors.inc({});
  }

  /** One attempt of a module run, successful or not. */
  moduleRun(labels: { readonly module: string; readonly activation: string }, seconds: number): void {
    this.#metrics.moduleRunSeconds.observe(labels, seconds);
  }

  /** A module run failed and is retried. */
  moduleRunError(module: string): void {
    this.#metrics.moduleRunErrors.inc({ module });
  }

  /** The deletion of a module failed and is retried. */
  moduleDeleteError(module: string): void {
    this.#metrics.moduleDeleteErrors.inc({ module });
  }

  /** A release that helm left in another state than `deployed` caused a run. */
  releaseRedeployed(module: string): void {
    this.#metrics.releasesRedeployed.inc({ module });
  }

  /** @param resource `<namespace>/<Kind>/<name>` */
  absentResource(module: string, resource: string): void {
    this.#metrics.absentResources.inc({ module, resource });
  }

  /** @param resource `<namespace>/<Kind>/<name>` */
  drift(what: 'drifted' | 'healed', module: string, resource: string): void {
    this.#metrics[`${what}Resources`].inc({ module, resource });
  }

  /** One run of a hook, by a task or in a phase of a module run. */
  hookRun(labels: HookRunLabels, seconds: number): void {
    if (isModuleHook(labels)) this.#metrics.moduleHookRunSeconds.observe(labels, seconds);
    else this.#metrics.globalHookRunSeconds.observe(labels, seconds);
  }

  /** A run of a hook ended well. @param atMs in milliseconds since the epoch */
  hookSucceeded({ module = '', hook, binding }: HookRunLabels, atMs: number): void {
    this.#metrics.hookLastSuccess.set({ module, hook, binding }, atMs / MS_PER_SECOND);
  }

  /** Resource usage of a successful run. */
  hookUsage(labels: HookRunLabels, usage: UsageFigures): void {
    const userSeconds = usage.userCpuMs / MS_PER_SECOND;
    const systemSeconds = usage.systemCpuMs / MS_PER_SECOND;
    if (isModuleHook(labels)) {
      this.#metrics.moduleHookUserCpu.observe(labels, userSeconds);
      this.#metrics.moduleHookSystemCpu.observe(labels, systemSeconds);
      this.#metrics.moduleHookMaxRss.set(labels, usage.maxRssBytes);
    } else {
      this.#metrics.globalHookUserCpu.observe(labels, userSeconds);
      this.#metrics.globalHookSystemCpu.observe(labels, systemSeconds);
      this.#metrics.globalHookMaxRss.set(labels, usage.maxRssBytes);
    }
  }

  /** Result of a `GlobalHookRun` or `ModuleHookRun` task; all three counters get their series. */
  hookResult(labels: HookRunLabels, result: HookTaskResult): void {
    const successes = result === 'success' ? 1 : 0;
    const errors = result === 'error' ? 1 : 0;
    const allowedErrors = result === 'allowed-error' ? 1 : 0;
    if (isModuleHook(labels)) {
      this.#metrics.moduleHookSuccesses.inc(labels, successes);
      this.#metrics.moduleHookErrors.inc(labels, errors);
      this.#metrics.moduleHookAllowedErrors.inc(labels, allowedErrors);
    } else {
      this.#metrics.globalHookSuccesses.inc(labels, successes);
      this.#metrics.globalHookErrors.inc(labels, errors);
      this.#metrics.globalHookAllowedErrors.inc(labels, allowedErrors);
    }
  }

  /** A run that did not succeed: it is repeated because it is not yet time, or a retry is useless. */
  hookUnfinished({ module = '', hook, binding, queue }: HookRunLabels, why: 'temporary' | 'permanent'): void {
    const { hookTemporaryFailures, hookPermanentFailures } = this.#metrics;
    const counter = why === 'temporary' ? hookTemporaryFailures : hookPermanentFailures;
    counter.inc({ module, hook, binding, queue });
  }

  /** A finished converge. */
  convergence(activation: string, seconds: number): void {
    this.#metrics.convergenceTotal.inc({ activation });
    this.#metrics.convergenceSeconds.inc({ activation }, Math.max(0, seconds));
  }

  /** The whole helm part of a module run. */
  moduleHelm(labels: { readonly module: string; readonly activation: string }, seconds: number): void {
    this.#metrics.moduleHelmSeconds.observe(labels, seconds);
  }

  /** One call of helm within a module run. */
  helmOperation(
    labels: { readonly module: string; readonly activation: string; readonly operation: HelmOperation },
    seconds: number,
  ): void {
    this.#metrics.helmOperationSeconds.observe(labels, seconds);
  }

  /**
   * Time between queueing and the start of an attempt.
   *
   * @param labels `binding` is the binding's name for hook runs, else the task type
   */
  taskWait(
    labels: {
      readonly module: string;
      readonly hook: string;
      readonly binding: string;
      readonly queue: string;
    },
    seconds: number,
  ): void {
    this.#metrics.taskWaitSeconds.inc(labels, Math.max(0, seconds));
  }

  /** One operation on a queue, such as `AddLast`; ignored when these are switched off. */
  queueAction(queue: string, action: string, seconds: number): void {
    if (!this.#options.hasQueueActions) return;
    this.#metrics.queueActionSeconds.observe({ queue_name: queue, queue_action: action }, seconds);
  }

  /** Objects in the snapshot of a kubernetes binding, after each change. */
  setSnapshotObjects(labels: BindingLabels, objects: number): void {
    this.#metrics.snapshotObjects.set(labels, objects);
  }

  /** To be called when a monitor stops for good. */
  forgetSnapshot(labels: BindingLabels): void {
    this.#metrics.snapshotObjects.remove(labels);
  }

  /** Duration of one call of jq for one object. */
  jqFilter(labels: BindingLabels, seconds: number): void {
    this.#metrics.jqFilterSeconds.observe(labels, seconds);
  }

  /** Duration from the receipt of a watch event to the end of its handling. */
  kubeEvent(labels: BindingLabels, seconds: number): void {
    this.#metrics.kubeEventSeconds.observe(labels, seconds);
  }

  /** A watch ended. */
  watchEnded(reason: keyof typeof WATCH_ERRORS): void {
    const type = WATCH_ERRORS[reason];
    if (type !== undefined) this.#metrics.watchErrors.inc({ error_type: type });
  }

  /** An object could not be used, and was left out. */
  objectSetAside(kind: string): void {
    this.#metrics.objectsSetAside.inc({ kind });
  }

  /** A snapshot was requested, but its monitor does not run. */
  missingMonitor(binding: string): void {
    this.#metrics.missingMonitors.inc({ binding });
  }

  /** @param request `status` is undefined without a response */
  kubeRequestResult(request: {
    readonly status: number | undefined;
    readonly verb: string;
    readonly host: string;
  }): void {
    const { status = '<error>', verb, host } = request;
    this.#metrics.kubeRequests.inc({ component: 'main', code: status, method: httpMethodOf(verb), host });
  }

  /** @param request `url` with `{namespace}` and `{name}` in place of names */
  kubeRequest({ verb, url }: { readonly verb: string; readonly url: string }, seconds: number): void {
    this.#metrics.kubeRequestSeconds.observe({ verb: httpMethodOf(verb), url }, seconds);
  }

  /** Queued runs of a hook were combined. */
  queueCompaction(queue: string, hook: string): void {
    this.#metrics.queueCompactions.inc({ queue_name: queue, hook });
  }

  /** @param labels `module` empty for a global hook */
  hookBacklogDropped(labels: { readonly module: string; readonly hook: string }, events: number): void {
    this.#metrics.hookBacklogDropped.inc({ module: labels.module, hook: labels.hook }, events);
  }

  /** Ticks of a crontab that passed while the process slept. */
  missedTicks(crontab: string, ticks: number): void {
    this.#metrics.missedTicks.inc({ crontab }, ticks);
  }

  /** @param labels `module` empty for a global hook */
  droppedHookSeries(labels: { readonly module: string; readonly hook: string }, series: number): void {
    this.#metrics.droppedHookSeries.inc(labels, series);
  }

  /** Spans of traces were lost. */
  droppedSpans(count: number): void {
    this.#metrics.droppedSpans.inc({}, count);
  }

  /** Processes that had left the group of a hook run were ended with it. */
  hookEscapes(labels: { readonly module: string; readonly hook: string }, count: number): void {
    this.#metrics.hookEscapes.inc(labels, count);
  }

  /** One attempt to send a notification, or one that is not sent. */
  notification(sink: string, result: 'sent' | 'failed' | 'refused' | 'dropped'): void {
    this.#metrics.notifications.inc({ sink, result });
  }

  /** Whether this replica is active. */
  setLeader(isLeader: boolean): void {
    this.#metrics.isLeader.set({}, isLeader ? 1 : 0);
  }

  /** An attempt to take or renew the lease failed. */
  leaseError(): void {
    this.#metrics.leaseErrors.inc({});
  }

  /** @param expiresMs in milliseconds since the epoch */
  setWebhookCertificate(server: 'validating' | 'conversion', expiresMs: number): void {
    this.#metrics.webhookCertificateExpiry.set({ server }, expiresMs / MS_PER_SECOND);
  }
}

/** A watch is a GET whose response does not end. */
function httpMethodOf(verb: string): string {
  return verb === 'WATCH' ? 'GET' : verb;
}

function isModuleHook(labels: HookRunLabels): labels is HookRunLabels & { readonly module: string } {
  return labels.module !== undefined;
}
