/**
 * The table of all metrics: name, type, labels, help, buckets. `operator-metrics.ts` creates an instrument for each row,
 * `docs/metrics.md` is generated from it, and a test counts the series against it. A new metric is one row
 * here and one method there. Labels multiply: `hook`, `binding` and `queue` exist once for each binding of a hook.
 */

import { counter, gauge, type MetricDefinition, summary } from './metric-definition.ts';

/** Runs of global hooks, and pulls: from a hook that only reads a file to one that waits for a minute. */
const RUN_BUCKETS = [0.01, 0.05, 0.2, 1, 5, 10, 60, 300];
/** Runs of modules and their hooks: few, because each module and binding has its own. */
const MODULE_BUCKETS = [0.1, 1, 10, 60];
/** Work of the daemon for one object. */
const OBJECT_BUCKETS = [0.01, 0.1];
/** CPU time of one process. */
const CPU_BUCKETS = [0.01, 0.1, 1, 10];
const MODULE_CPU_BUCKETS = [0.1, 1];
/** Requests to the API server. */
const REQUEST_BUCKETS = [0.005, 0.05, 0.5, 5];
/** In-memory operations on queues. */
const QUEUE_ACTION_BUCKETS = [0.0001, 0.001, 0.01, 0.1];

/** Labels of metrics about hook runs. `activation` separates the runs of a start from all later ones. */
const HOOK = ['hook', 'binding', 'queue', 'activation'] as const;
const MODULE_HOOK = ['module', ...HOOK] as const;
/** Labels of metrics about kubernetes bindings. */
const BINDING = ['module', 'hook', 'binding', 'queue', 'kind'] as const;

/** A row for a distribution; buckets are upper bounds in seconds. */
function histogram<const L extends string>(
  name: string,
  labels: readonly L[],
  help: string,
  buckets: readonly number[] = RUN_BUCKETS,
) {
  return { type: 'histogram', name, labels, help, buckets } as const;
}

/** Kept by Node itself and turned into a histogram at each scrape. */
export const EVENT_LOOP_DELAY = histogram(
  'event_loop_delay_seconds',
  [],
  'Delay of callbacks in the event loop of the daemon.',
  [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
);

/** Every other metric the daemon exports about itself; the docs page is made from it. */
export const METRICS = {
  // The process.
  buildInfo: gauge('build_info', ['version'], '1, with the version of the operator.'),
  liveTicks: counter(
    'live_ticks',
    [],
    'Increases by one every 10 seconds while the daemon is running, but not on a standby.',
  ),
  // Hooks that are loaded, and failures that no module or hook is named for.
  bindingCount: gauge('binding_count', ['module', 'hook'], 'Number of bindings of a hook.'),
  configValuesErrors: counter(
    'config_values_errors_total',
    [],
    'Increases by one every 5 seconds while the ConfigMap is invalid.',
  ),
  modulesDiscoverErrors: counter(
    'modules_discover_errors_total',
    [],
    'Failed attempts to discover modules or to apply the ConfigMap.',
  ),
  // Runs and releases of modules.
  moduleRunSeconds: histogram(
    'module_run_seconds',
    ['module', 'activation'],
    'Duration of a module run.',
    MODULE_BUCKETS,
  ),
  moduleRunErrors: counter('module_run_errors_total', ['module'], 'Failed attempts to run a module.'),
  moduleDeleteErrors: counter(
    'module_delete_errors_total',
    ['module'],
    'Failed attempts to delete a module.',
  ),
  releasesRedeployed: counter(
    'modules_helm_release_redeployed_total',
    ['module'],
    'Module runs caused by a release that was not in status deployed.',
  ),
  absentResources: counter(
    'modules_absent_resources_total',
    ['module', 'resource'],
    'Objects of a release found missing; resource is namespace/Kind/name.',
  ),
  driftedResources: counter(
    'modules_drifted_resources_total',
    ['module', 'resource'],
    'Objects of a release found changed since helm applied them; resource is namespace/Kind/name.',
  ),
  healedResources: counter(
    'modules_healed_resources_total',
    ['module', 'resource'],
    'Objects of a release that were corrected to what helm applied; resource is namespace/Kind/name.',
  ),
  moduleDrift: gauge(
    'module_drifted_resources',
    ['module'],
    'Objects of a release that currently differ from what helm applied; absent without a monitor.',
  ),
  // States of modules, read at each scrape.
  moduleInfo: gauge('mm_module_info', ['module', 'enabled', 'critical'], '1 for each known module.'),
  moduleStatus: gauge(
    'module_status',
    ['module', 'status'],
    '1 for the current status of each known module, as `module list` shows it, such as ready, held-up, held, failing, isolated or paused.',
  ),
  moduleLastSuccess: gauge(
    'module_last_success_timestamp_seconds',
    ['module'],
    'When the last successful module run of this daemon ended, in seconds since 1970; absent before.',
  ),
  moduleMaintenance: gauge(
    'mm_module_maintenance',
    ['module', 'state'],
    '1 while the ConfigMap sets the release of a module to maintenance; absent otherwise.',
  ),
  modulePaused: gauge('module_paused', ['module'], '1 while a module is paused; absent otherwise.'),
  moduleUnauthorized: gauge(
    'module_unauthorized',
    ['module'],
    '1 while the policy of --auth-policy does not let a module run; absent otherwise.',
  ),
  moduleIsolated: gauge(
    'module_isolated',
    ['module'],
    '1 while a module fails and other modules continue without it; absent otherwise.',
  ),
  // Runs of module hooks.
  moduleHookRunSeconds: histogram(
    'module_hook_run_seconds',
    MODULE_HOOK,
    'Duration of a module hook run.',
    MODULE_BUCKETS,
  ),
  moduleHookUserCpu: histogram(
    'module_hook_run_user_cpu_seconds',
    MODULE_HOOK,
    'User CPU time of a successful module hook run.',
    MODULE_CPU_BUCKETS,
  ),
  moduleHookSystemCpu: histogram(
    'module_hook_run_sys_cpu_seconds',
    MODULE_HOOK,
    'System CPU time of a successful module hook run.',
    MODULE_CPU_BUCKETS,
  ),
  moduleHookMaxRss: gauge(
    'module_hook_run_max_rss_bytes',
    MODULE_HOOK,
    'Peak memory of the last successful module hook run; at least that of the launcher it was started from (about 30 MB), which the kernel includes.',
  ),
  moduleHookSuccesses: counter('module_hook_success_total', MODULE_HOOK, 'Module hook tasks that succeeded.'),
  moduleHookErrors: counter(
    'module_hook_errors_total',
    MODULE_HOOK,
    'Module hook tasks that failed and are retried.',
  ),
  moduleHookAllowedErrors: counter(
    'module_hook_allowed_errors_total',
    MODULE_HOOK,
    'Module hook tasks that failed with allowFailure.',
  ),
  // Outcomes of hooks of both kinds that are neither success nor an ordinary failure.
  hookPermanentFailures: counter(
    'hook_permanent_failures_total',
    ['module', 'hook', 'binding', 'queue'],
    'Hook runs that failed and are not retried.',
  ),
  hookTemporaryFailures: counter(
    'hook_temporary_failures_total',
    ['module', 'hook', 'binding', 'queue'],
    'Hook runs that failed temporarily and are retried.',
  ),
  hookFailedPermanently: gauge(
    'hook_failed_permanently',
    ['module', 'hook', 'binding'],
    '1 while the last run for a binding failed permanently, until one succeeds.',
  ),
  hookHeldContexts: gauge(
    'hook_held_contexts',
    ['module', 'hook', 'queue'],
    'Binding contexts that wait outside of their queue, for a debounce or the retry of a temporary failure.',
  ),
  // Runs of global hooks.
  globalHookRunSeconds: histogram('global_hook_run_seconds', HOOK, 'Duration of a global hook run.'),
  globalHookUserCpu: histogram(
    'global_hook_run_user_cpu_seconds',
    HOOK,
    'User CPU time of a successful global hook run.',
    CPU_BUCKETS,
  ),
  globalHookSystemCpu: histogram(
    'global_hook_run_sys_cpu_seconds',
    HOOK,
    'System CPU time of a successful global hook run.',
    CPU_BUCKETS,
  ),
  globalHookMaxRss: gauge(
    'global_hook_run_max_rss_bytes',
    HOOK,
    'Peak memory of the last successful global hook run; at least that of the launcher it was started from (about 30 MB), which the kernel includes.',
  ),
  globalHookSuccesses: counter('global_hook_success_total', HOOK, 'Global hook tasks that succeeded.'),
  globalHookErrors: counter(
    'global_hook_errors_total',
    HOOK,
    'Global hook tasks that failed and are retried.',
  ),
  globalHookAllowedErrors: counter(
    'global_hook_allowed_errors_total',
    HOOK,
    'Global hook tasks that failed with allowFailure, and hooks of a deploy that failed.',
  ),
  hookLastSuccess: gauge(
    'hook_last_success_timestamp_seconds',
    ['module', 'hook', 'binding'],
    'When the last successful run of a hook ended, in seconds since 1970. `module` is empty for a global hook.',
  ),
  // Converges and helm.
  convergenceSeconds: counter('convergence_seconds', ['activation'], 'Seconds spent in finished converges.'),
  convergenceTotal: counter('convergence_total', ['activation'], 'Finished converges.'),
  moduleHelmSeconds: summary(
    'module_helm_seconds',
    ['module', 'activation'],
    'Duration of all helm operations of a module run.',
  ),
  helmOperationSeconds: summary(
    'helm_operation_seconds',
    ['module', 'activation', 'operation'],
    'Duration of one helm operation.',
  ),
  // Queues. The gauges are read at each scrape.
  taskWaitSeconds: counter(
    'task_wait_in_queue_seconds_total',
    ['module', 'hook', 'binding', 'queue'],
    'Seconds that tasks waited in a queue before an attempt.',
  ),
  queueLength: gauge('tasks_queue_length', ['queue'], 'Number of tasks in a queue.'),
  queueHead: gauge(
    'tasks_queue_head_info',
    ['queue', 'module', 'task_type', 'hook'],
    '1 for the head task of each queue that is not empty.',
  ),
  queueHeadSince: gauge(
    'tasks_queue_head_since_timestamp_seconds',
    ['queue'],
    'When the first attempt of the head task began, in seconds since 1970; absent while a queue is empty.',
  ),
  queueHeadFailures: gauge(
    'tasks_queue_head_failures',
    ['queue'],
    'Failed attempts of the head task; absent while a queue is empty.',
  ),
  queueNextAttempt: gauge(
    'tasks_queue_next_attempt_timestamp_seconds',
    ['queue'],
    'When the head task is tried again, in seconds since 1970; absent unless it has failed and waits.',
  ),
  queueActionSeconds: histogram(
    'tasks_queue_action_duration_seconds',
    ['queue_name', 'queue_action'],
    'Duration of an operation on a queue.',
    QUEUE_ACTION_BUCKETS,
  ),
  // Kubernetes bindings: snapshots, filters and watches.
  snapshotObjects: gauge('kube_snapshot_objects', BINDING, 'Number of objects in the snapshot of a binding.'),
  jqFilterSeconds: histogram(
    'kube_jq_filter_duration_seconds',
    BINDING,
    'Duration of a jq filter for one object.',
    OBJECT_BUCKETS,
  ),
  kubeEventSeconds: histogram(
    'kube_event_duration_seconds',
    BINDING,
    'Duration of handling one watch event.',
    OBJECT_BUCKETS,
  ),
  watchLastActivity: gauge(
    'watch_last_activity_timestamp_seconds',
    BINDING,
    'When the API server last confirmed the snapshot of a binding, by a list, an opened watch, a change or a bookmark, in seconds since 1970.',
  ),
  watchFailing: gauge(
    'watch_failing',
    [...BINDING, 'reason'],
    '1 while the objects of a binding cannot be listed or watched: reason is forbidden or unavailable; absent otherwise.',
  ),
  filterFailedObjects: gauge(
    'kube_jq_filter_failed_objects',
    BINDING,
    'Objects whose last state is not in the snapshot of a binding, since the jq filter fails on it; absent without any.',
  ),
  watchErrors: counter(
    'kubernetes_client_watch_errors_total',
    ['error_type'],
    'Watches that ended early: version expired, closed early (eof), broken (unexpected-eof), refused (fail), silent (nil).',
  ),
  objectsSetAside: counter(
    'kubernetes_objects_set_aside_total',
    ['kind'],
    'Objects of lists and watches that could not be used, each time they were tried. Others are not affected.',
  ),
  missingMonitors: counter(
    'binding_monitor_missing_total',
    ['binding'],
    'Snapshots that were requested while their monitor did not run.',
  ),
  // The API client.
  kubeRequests: counter(
    'kubernetes_client_request_result_total',
    ['component', 'code', 'method', 'host'],
    'API requests by the status of the response, `<error>` if there is none.',
  ),
  kubeRequestSeconds: histogram(
    'kubernetes_client_rate_limiter_latency_seconds',
    ['verb', 'url'],
    'Duration of API requests; for a watch, until the response starts; the URL has {namespace} and {name} in place of names.',
    REQUEST_BUCKETS,
  ),
  // Protection against too many events and tasks.
  queueCompactions: counter(
    'd8_telemetry_{prefix}tasks_queue_compaction_operations_total',
    ['queue_name', 'hook'],
    'How often queued runs of a hook were combined because the queue was too long.',
  ),
  hookBacklog: gauge(
    '{prefix}hook_backlog_bytes',
    [],
    'Approximate memory of events that wait for hooks or are part of a hook run in progress.',
  ),
  hookBacklogDropped: counter(
    '{prefix}hook_backlog_dropped_events_total',
    ['module', 'hook'],
    'Events dropped because the backlog was full; a newer state of the object is always queued.',
  ),
  queueCrowds: gauge(
    'd8_telemetry_{prefix}tasks_queue_compaction_tasks_by_hook',
    ['queue_name', 'hook'],
    'Tasks of a hook that has more than 20 in a queue.',
  ),
  missedTicks: counter(
    'schedule_missed_ticks_total',
    ['crontab'],
    'Ticks of a crontab that passed while the process slept or its clock jumped ahead; hooks run once for all ticks that are due at the same time.',
  ),
  droppedHookSeries: counter(
    'hook_metrics_dropped_series_total',
    ['module', 'hook'],
    'Series of hook metrics that were dropped because the hook has too many.',
  ),
  hookEscapes: counter(
    'hook_escaped_processes_total',
    ['module', 'hook'],
    'Processes that left the process group of a hook or enabled script and were terminated at the end of its run; `module` is empty for a global hook.',
  ),
  hookRunningSince: gauge(
    'hook_running_since_timestamp_seconds',
    ['module', 'hook', 'binding', 'queue'],
    'Start time of a running hook, as Unix time; of several runs with these labels, the oldest. `module` is empty for a global hook.',
  ),
  // Data that was lost because a reader was too slow.
  droppedLogRecords: counter(
    'log_records_dropped_total',
    [],
    'Log records that were dropped because standard output was not read, or could not be written.',
  ),
  droppedSpans: counter(
    'trace_spans_dropped_total',
    [],
    'Spans of traces that were dropped because the collector did not take them in time.',
  ),
  // Modules of sources.
  updatePending: gauge(
    'module_update_pending',
    ['module', 'reason', 'needs'],
    '1 while a version of a module waits: reason is that of status.pending of its ModuleInstall, needs says who ends it (fix, decision, time); absent otherwise.',
  ),
  updateRunning: gauge(
    'module_update_running',
    ['module'],
    '1 from the switch to another version of a module until its last gate has passed or failed; absent otherwise.',
  ),
  updateFailed: gauge(
    'module_update_failed',
    ['module'],
    '1 while the installed or the wanted version of a module has failed its gates; absent otherwise.',
  ),
  sourceReady: gauge(
    'module_source_ready',
    ['source'],
    '1 while a ModuleSource can be read, 0 while it cannot, was not read yet, or its spec is invalid.',
  ),
  sourceLastSuccess: gauge(
    'module_source_last_success_timestamp_seconds',
    ['source'],
    'When the versions of all modules of a ModuleSource were looked up last, in seconds since 1970; absent before.',
  ),
  contentMissing: gauge(
    'module_content_missing',
    ['module'],
    '1 while the files of an installed module are neither in the store, nor in its source or its backup; absent otherwise.',
  ),
  pullSeconds: histogram('module_pull_seconds', [], 'Duration of pulling a module into the store.'),
  storeBytes: gauge('module_store_bytes', [], 'Size of all versions of modules in the store.'),
  notifications: counter(
    'notifications_total',
    ['sink', 'result'],
    'Attempts to send a notification: result is sent, failed (it is tried again), refused by the receiver, or dropped because too many wait.',
  ),
  // Leader election and webhooks.
  isLeader: gauge(
    'is_leader',
    [],
    '1 while this replica is active, 0 on a standby; without high availability always 1.',
  ),
  leaseErrors: counter(
    'lease_errors_total',
    [],
    'Failed attempts to take or renew the lease; a lease held by another client is not a failure.',
  ),
  webhookCertificateExpiry: gauge(
    'webhook_certificate_expiry_timestamp_seconds',
    ['server'],
    'When the certificate of a webhook server expires, in seconds since 1970.',
  ),
} as const satisfies Readonly<Record<string, MetricDefinition<string>>>;
