import { createHistogram } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { SERIES_BUDGET } from './metrics-page.ts';
import {
  type BindingGauge,
  type HookRunLabels,
  type OperatorGauges,
  OperatorMetrics,
  type QueueGauge,
} from './operator-metrics.ts';

const MODULE_HOOK = {
  module: 'web',
  hook: 'hooks/a.sh',
  binding: 'kubernetes',
  queue: 'main',
  activation: '',
};
const GLOBAL_HOOK = { hook: 'a.sh', binding: 'onStartup', queue: 'main', activation: 'OperatorStartup' };

function createMetrics(
  options: Partial<OperatorGauges> & { readonly prefix?: string; readonly hasQueueActions?: boolean } = {},
): OperatorMetrics {
  const { prefix = 'ao_', hasQueueActions = true, ...gauges } = options;
  const metrics = new OperatorMetrics({
    prefix,
    hasQueueActions,
    version: '1.2.3',
    eventLoopDelay: createHistogram(),
  });
  metrics.show({
    runningHooks: () => [],
    queues: () => [],
    backlogBytes: () => 0,
    modules: () => [],
    bindings: () => [],
    unfinishedHooks: () => ({ failed: [], held: [] }),
    ...gauges,
  });
  return metrics;
}

async function seriesOf(metrics: OperatorMetrics, name: string): Promise<string[]> {
  const lines = (await metrics.scrape()).split('\n');
  return lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
}

const SNAPSHOT = { module: 'web', hook: 'hooks/a.sh', binding: 'pods', queue: 'main', kind: 'Pod' };
const QUEUE_ACTIONS = ['AddFirst', 'AddLast', 'AddAfter', 'RemoveFirst', 'DeleteFunc', 'IterateSnapshot'];

test('the prefix precedes every name of ours and before no name of the process', async () => {
  const text = await createMetrics({ prefix: 'dev_' }).scrape();
  expect(text).toContain('\ndev_live_ticks 0\n');
  expect(text).toContain('\nprocess_start_time_seconds ');
  expect(text).not.toContain('dev_process_');
});

test('hooks with many tasks are shown under the name the telemetry has', async () => {
  const metrics = createMetrics({
    queues: () => [{ queue: 'q', length: 30, crowds: new Map([['a.sh', 30]]) }],
  });
  metrics.queueCompaction('q', 'a.sh');
  const name = 'd8_telemetry_ao_tasks_queue_compaction';
  expect(await seriesOf(metrics, `${name}_tasks_by_hook`)).toEqual([
    `${name}_tasks_by_hook{queue_name="q",hook="a.sh"} 30`,
  ]);
  expect(await seriesOf(metrics, `${name}_operations_total`)).toEqual([
    `${name}_operations_total{queue_name="q",hook="a.sh"} 1`,
  ]);
});

test('liveTick() adds one', async () => {
  const metrics = createMetrics();
  metrics.liveTick();
  metrics.liveTick();
  expect(await seriesOf(metrics, 'ao_live_ticks')).toEqual(['ao_live_ticks 2']);
});

test('hookResult() makes the series of all three counters', async () => {
  const metrics = createMetrics();
  metrics.hookResult(MODULE_HOOK, 'allowed-error');
  const labels = '{module="web",hook="hooks/a.sh",binding="kubernetes",queue="main",activation=""}';
  expect(await seriesOf(metrics, 'ao_module_hook_success_total')).toEqual([
    `ao_module_hook_success_total${labels} 0`,
  ]);
  expect(await seriesOf(metrics, 'ao_module_hook_errors_total')).toEqual([
    `ao_module_hook_errors_total${labels} 0`,
  ]);
  expect(await seriesOf(metrics, 'ao_module_hook_allowed_errors_total')).toEqual([
    `ao_module_hook_allowed_errors_total${labels} 1`,
  ]);
});

test('hookRun() of a module hook counts a duration and no result', async () => {
  const metrics = createMetrics();
  metrics.hookRun({ ...MODULE_HOOK, binding: 'beforeHelm' }, 0.3);
  expect(await seriesOf(metrics, 'ao_module_hook_run_seconds_count')).toHaveLength(1);
  expect(await seriesOf(metrics, 'ao_module_hook_success_total')).toEqual([]);
});

test('global hooks have metrics of their own without a module label', async () => {
  const metrics = createMetrics();
  metrics.hookRun(GLOBAL_HOOK, 2);
  metrics.hookUsage(GLOBAL_HOOK, { userCpuMs: 1_500, systemCpuMs: 250, maxRssBytes: 4_096 });
  metrics.hookResult(GLOBAL_HOOK, 'success');
  const labels = '{hook="a.sh",binding="onStartup",queue="main",activation="OperatorStartup"}';
  expect(await seriesOf(metrics, 'ao_global_hook_run_seconds_sum')).toEqual([
    `ao_global_hook_run_seconds_sum${labels} 2`,
  ]);
  expect(await seriesOf(metrics, 'ao_global_hook_run_user_cpu_seconds_sum')).toEqual([
    `ao_global_hook_run_user_cpu_seconds_sum${labels} 1.5`,
  ]);
  expect(await seriesOf(metrics, 'ao_global_hook_run_max_rss_bytes')).toEqual([
    `ao_global_hook_run_max_rss_bytes${labels} 4096`,
  ]);
  expect(await seriesOf(metrics, 'ao_global_hook_success_total')).toEqual([
    `ao_global_hook_success_total${labels} 1`,
  ]);
});

test('durations of global hooks have the documented buckets', async () => {
  const metrics = createMetrics();
  metrics.hookRun(GLOBAL_HOOK, 0.01);
  const bounds = (await seriesOf(metrics, 'ao_global_hook_run_seconds_bucket')).map(
    (line) => /le="([^"]+)"/.exec(line)?.[1],
  );
  expect(bounds).toEqual('0.01 0.05 0.2 1 5 10 60 300 +Inf'.split(' '));
});

function runHook(metrics: OperatorMetrics, labels: HookRunLabels): void {
  metrics.hookRun(labels, 1);
  metrics.hookSucceeded(labels, 0);
  metrics.hookUsage(labels, { userCpuMs: 1, systemCpuMs: 1, maxRssBytes: 1 });
  metrics.hookResult(labels, 'success');
  metrics.taskWait({ module: labels.module ?? '', hook: labels.hook, binding: 'main', queue: 'main' }, 1);
}

const DAEMON_ITSELF = /^(?:#|$|process_|nodejs_|ao_event_loop_delay)/u;

test.each<[what: string, use: (metrics: OperatorMetrics) => void, series: number]>([
  [
    'the runs of a module with a chart',
    (metrics) => {
      metrics.moduleRun({ module: 'web', activation: '' }, 1);
      metrics.moduleHelm({ module: 'web', activation: '' }, 1);
      for (const operation of ['template', 'upgrade'] as const)
        metrics.helmOperation({ module: 'web', activation: '', operation }, 1);
    },
    SERIES_BUDGET.moduleRuns,
  ],
  [
    'the runs of a module hook for one binding',
    (metrics) => runHook(metrics, MODULE_HOOK),
    SERIES_BUDGET.hookRuns,
  ],
  [
    'the runs of a global hook for one binding',
    (metrics) => runHook(metrics, GLOBAL_HOOK),
    SERIES_BUDGET.globalHookRuns,
  ],
  [
    'the objects of a kubernetes binding',
    (metrics) => {
      metrics.jqFilter(SNAPSHOT, 1);
      metrics.kubeEvent(SNAPSHOT, 1);
      metrics.setSnapshotObjects(SNAPSHOT, 1);
    },
    SERIES_BUDGET.bindingObjects,
  ],
  [
    'what is done to a queue',
    (metrics) => {
      for (const action of QUEUE_ACTIONS) metrics.queueAction('main', action, 1);
    },
    SERIES_BUDGET.queueActions,
  ],
])('%s have as many series as documented', async (_what, use, series) => {
  const metrics = createMetrics();
  const names = (text: string) => text.split('\n').filter((line) => !DAEMON_ITSELF.test(line));
  const before = new Set(names(await metrics.scrape()));
  use(metrics);
  expect(names(await metrics.scrape()).filter((line) => !before.has(line))).toHaveLength(series);
});

test('seconds keep their fractions and never go back', async () => {
  const metrics = createMetrics();
  metrics.convergence('OperatorStartup', 0.7);
  metrics.taskWait({ module: '', hook: '', binding: 'ConvergeModules', queue: 'main' }, -3);
  expect(await seriesOf(metrics, 'ao_convergence_seconds')).toEqual([
    'ao_convergence_seconds{activation="OperatorStartup"} 0.7',
  ]);
  expect(await seriesOf(metrics, 'ao_convergence_total')).toEqual([
    'ao_convergence_total{activation="OperatorStartup"} 1',
  ]);
  expect(await seriesOf(metrics, 'ao_task_wait_in_queue_seconds_total')).toEqual([
    'ao_task_wait_in_queue_seconds_total{module="",hook="",binding="ConvergeModules",queue="main"} 0',
  ]);
});

test('queue gauges are read at each scrape and forget a head that is gone', async () => {
  const head = { module: 'web', taskType: 'ModuleRun', hook: '', failures: 3 };
  let queues: readonly QueueGauge[] = [
    {
      queue: 'main',
      length: 2,
      crowds: new Map(),
      head: { ...head, sinceSeconds: 100.5, nextAttemptSeconds: 120 },
    },
    { queue: 'q', length: 0, crowds: new Map() },
  ];
  const metrics = createMetrics({ queues: () => queues });
  expect(await seriesOf(metrics, 'ao_tasks_queue_length')).toEqual([
    'ao_tasks_queue_length{queue="main"} 2',
    'ao_tasks_queue_length{queue="q"} 0',
  ]);
  expect(await seriesOf(metrics, 'ao_tasks_queue_head_info')).toEqual([
    'ao_tasks_queue_head_info{queue="main",module="web",task_type="ModuleRun",hook=""} 1',
  ]);
  const ofHead = async (): Promise<string[]> => {
    const lines = (await metrics.scrape()).split('\n');
    return lines.filter((line) => /^ao_tasks_queue_(?:head_since|head_failures|next_attempt)/u.test(line));
  };
  expect(await ofHead()).toEqual([
    'ao_tasks_queue_head_since_timestamp_seconds{queue="main"} 100.5',
    'ao_tasks_queue_head_failures{queue="main"} 3',
    'ao_tasks_queue_next_attempt_timestamp_seconds{queue="main"} 120',
  ]);
  queues = [
    {
      queue: 'main',
      length: 1,
      crowds: new Map(),
      head: { ...head, failures: 0, sinceSeconds: undefined, nextAttemptSeconds: undefined },
    },
  ];
  expect(await ofHead()).toEqual(['ao_tasks_queue_head_failures{queue="main"} 0']);
  queues = [{ queue: 'main', length: 0, crowds: new Map() }];
  expect(await ofHead()).toEqual([]);
  expect(await seriesOf(metrics, 'ao_tasks_queue_length')).toEqual(['ao_tasks_queue_length{queue="main"} 0']);
  expect(await seriesOf(metrics, 'ao_tasks_queue_head_info')).toEqual([]);
});

test('mm_module_info shows every known module', async () => {
  const metrics = createMetrics({
    modules: () => [
      { module: 'web', isEnabled: true, isCritical: false, status: 'ready', lastSuccessSeconds: 7.5 },
      {
        module: 'new',
        isEnabled: true,
        isCritical: false,
        status: 'starting',
        lastSuccessSeconds: undefined,
      },
    ],
  });
  expect(await seriesOf(metrics, 'ao_mm_module_info')).toEqual([
    'ao_mm_module_info{module="web",enabled="true",critical="false"} 1',
    'ao_mm_module_info{module="new",enabled="true",critical="false"} 1',
  ]);
  expect(await seriesOf(metrics, 'ao_module_status')).toEqual([
    'ao_module_status{module="web",status="ready"} 1',
    'ao_module_status{module="new",status="starting"} 1',
  ]);
  expect(await seriesOf(metrics, 'ao_module_last_success_timestamp_seconds')).toEqual([
    'ao_module_last_success_timestamp_seconds{module="web"} 7.5',
  ]);
});

test('the version and the last success of a hook are shown', async () => {
  const metrics = createMetrics();
  metrics.hookSucceeded(GLOBAL_HOOK, 1_500);
  expect(await seriesOf(metrics, 'ao_build_info')).toEqual(['ao_build_info{version="1.2.3"} 1']);
  expect(await seriesOf(metrics, 'ao_hook_last_success_timestamp_seconds')).toEqual([
    'ao_hook_last_success_timestamp_seconds{module="",hook="a.sh",binding="onStartup"} 1.5',
  ]);
});

test('queue actions can be switched off', async () => {
  const off = createMetrics({ hasQueueActions: false });
  off.queueAction('main', 'AddLast', 0.001);
  expect(await seriesOf(off, 'ao_tasks_queue_action_duration_seconds_count')).toEqual([]);
  const on = createMetrics();
  on.queueAction('main', 'AddLast', 0.001);
  expect(await seriesOf(on, 'ao_tasks_queue_action_duration_seconds_count')).toEqual([
    'ao_tasks_queue_action_duration_seconds_count{queue_name="main",queue_action="AddLast"} 1',
  ]);
});

test('counters of failures and of the cluster count under their labels', async () => {
  const metrics = createMetrics();
  const binding = { module: 'web', hook: 'hooks/a.sh', binding: 'pods', queue: 'main', kind: 'Pod' };
  metrics.setBindingCount('', 'a.sh', 3);
  metrics.configValuesError();
  metrics.modulesDiscoverError();
  metrics.moduleRunError('web');
  metrics.moduleDeleteError('web');
  metrics.releaseRedeployed('web');
  metrics.absentResource('web', 'default/ConfigMap/a');
  metrics.moduleHelm({ module: 'web', activation: '' }, 0.4);
  metrics.helmOperation({ module: 'web', activation: '', operation: 'template' }, 0.1);
  metrics.setSnapshotObjects(binding, 7);
  metrics.jqFilter(binding, 0.001);
  metrics.kubeEvent(binding, 0.001);
  metrics.watchEnded('expired');
  metrics.objectSetAside('Pod');
  metrics.missingMonitor('pods');
  metrics.kubeRequestResult({ status: 200, verb: 'GET', host: 'api' });
  metrics.kubeRequestResult({ status: 200, verb: 'WATCH', host: 'api' });
  metrics.kubeRequestResult({ status: undefined, verb: 'PUT', host: 'api' });
  metrics.kubeRequest({ verb: 'WATCH', url: '/api/v1/namespaces/{namespace}/pods' }, 0.02);
  metrics.droppedHookSeries({ module: 'web', hook: 'hooks/a.sh' }, 5);
  metrics.hookEscapes({ module: '', hook: 'a.sh' }, 2);
  metrics.setWebhookCertificate('validating', 1_800_000_000_000);
  const text = await metrics.scrape();
  const pod = '{module="web",hook="hooks/a.sh",binding="pods",queue="main",kind="Pod"}';
  for (const line of [
    'ao_binding_count{module="",hook="a.sh"} 3',
    'ao_config_values_errors_total 1',
    'ao_hook_escaped_processes_total{module="",hook="a.sh"} 2',
    'ao_modules_discover_errors_total 1',
    'ao_module_run_errors_total{module="web"} 1',
    'ao_module_delete_errors_total{module="web"} 1',
    'ao_modules_helm_release_redeployed_total{module="web"} 1',
    'ao_modules_absent_resources_total{module="web",resource="default/ConfigMap/a"} 1',
    'ao_module_helm_seconds_count{module="web",activation=""} 1',
    'ao_helm_operation_seconds_count{module="web",activation="",operation="template"} 1',
    `ao_kube_snapshot_objects${pod} 7`,
    `ao_kube_jq_filter_duration_seconds_count${pod} 1`,
    `ao_kube_event_duration_seconds_count${pod} 1`,
    'ao_kubernetes_client_watch_errors_total{error_type="expired"} 1',
    'ao_kubernetes_objects_set_aside_total{kind="Pod"} 1',
    'ao_binding_monitor_missing_total{binding="pods"} 1',
    'ao_kubernetes_client_request_result_total{component="main",code="200",method="GET",host="api"} 2',
    'ao_kubernetes_client_request_result_total{component="main",code="<error>",method="PUT",host="api"} 1',
    'ao_kubernetes_client_rate_limiter_latency_seconds_count{verb="GET",url="/api/v1/namespaces/{namespace}/pods"} 1',
    'ao_hook_metrics_dropped_series_total{module="web",hook="hooks/a.sh"} 5',
    'ao_webhook_certificate_expiry_timestamp_seconds{server="validating"} 1800000000',
  ])
    expect(text.split('\n')).toContain(line);
  metrics.forgetSnapshot(binding);
  expect(await seriesOf(metrics, 'ao_kube_snapshot_objects')).toEqual([]);
});

test('a label value cannot break a line', async () => {
  const metrics = createMetrics();
  metrics.moduleRunError('a"\n\\b');
  expect(await seriesOf(metrics, 'ao_module_run_errors_total')).toEqual([
    'ao_module_run_errors_total{module="a\\"\\n\\\\b"} 1',
  ]);
});

test('the delay of the event loop is a histogram like any other', async () => {
  const metrics = createMetrics();
  expect(await seriesOf(metrics, 'ao_event_loop_delay_seconds_count')).toEqual([
    'ao_event_loop_delay_seconds_count 0',
  ]);
  const text = await metrics.scrape();
  expect(text).toMatch(/[^\n]\n# HELP ao_event_loop_delay_seconds /);
  const helpOfProcess = text.match(/(?<=# HELP )nodejs_eventloop\w*/gu);
  expect(helpOfProcess).toEqual(['nodejs_eventloop_lag_seconds']);
});

test('bindings are shown with the age of their snapshot and what is wrong with it, and only while it is', async () => {
  const labels = { module: '', hook: 'a.sh', binding: 'pods', queue: 'main', kind: 'Pod' };
  const well = { labels, lastActivitySeconds: 5, failing: undefined, filterFailedObjects: 0 };
  let bindings: readonly BindingGauge[] = [
    { ...well, failing: 'forbidden', filterFailedObjects: 2 },
    { ...well, labels: { ...labels, hook: 'b.sh' }, lastActivitySeconds: undefined },
  ];
  const metrics = createMetrics({ bindings: () => bindings });
  const series = async (): Promise<readonly string[]> =>
    (await metrics.scrape())
      .split('\n')
      .filter((line) => /^\w*(?:watch_last|watch_failing|failed_objects)/.test(line))
      .map((line) => line.replace(/^.*?(watch|kube_jq)/, '$1'));
  const shared = 'module="",hook="a.sh",binding="pods",queue="main",kind="Pod"';
  expect(await series()).toEqual([
    `watch_last_activity_timestamp_seconds{${shared}} 5`,
    `watch_failing{${shared},reason="forbidden"} 1`,
    `kube_jq_filter_failed_objects{${shared}} 2`,
  ]);
  bindings = [well];
  expect(await series()).toEqual([`watch_last_activity_timestamp_seconds{${shared}} 5`]);
});

test('a hook is shown with the time of its start while it runs, the oldest of several runs', async () => {
  const labels = { hook: 'a.sh', binding: 'schedule', queue: 'main', activation: '' };
  let running = [
    { labels, startedAtMs: 1_000 },
    { labels, startedAtMs: 2_000 },
    { labels: { ...labels, module: 'web' }, startedAtMs: 3_500 },
  ];
  const metrics = createMetrics({ runningHooks: () => running });
  expect(await seriesOf(metrics, 'ao_hook_running_since_timestamp_seconds')).toEqual([
    'ao_hook_running_since_timestamp_seconds{module="web",hook="a.sh",binding="schedule",queue="main"} 3.5',
    'ao_hook_running_since_timestamp_seconds{module="",hook="a.sh",binding="schedule",queue="main"} 1',
  ]);
  running = [];
  expect(await seriesOf(metrics, 'ao_hook_running_since_timestamp_seconds')).toEqual([]);
});
