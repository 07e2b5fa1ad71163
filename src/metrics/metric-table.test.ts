import { expect, test } from 'vitest';
import { metricName } from './metric-definition.ts';
import { METRICS } from './metric-table.ts';

const HOOK = 'hook,binding,queue,activation';
const BINDING = 'module,hook,binding,queue,kind';

/** Name, type and labels of every metric that dashboards of the original may look at; a summary is a histogram without buckets. */
const OF_THE_CONTRACT: readonly (readonly [string, string, string])[] = [
  ['live_ticks', 'counter', ''],
  ['binding_count', 'gauge', 'module,hook'],
  ['config_values_errors_total', 'counter', ''],
  ['modules_discover_errors_total', 'counter', ''],
  ['module_run_seconds', 'histogram', 'module,activation'],
  ['module_run_errors_total', 'counter', 'module'],
  ['module_delete_errors_total', 'counter', 'module'],
  ['modules_helm_release_redeployed_total', 'counter', 'module'],
  ['modules_absent_resources_total', 'counter', 'module,resource'],
  ['mm_module_info', 'gauge', 'module,enabled,critical'],
  ['mm_module_maintenance', 'gauge', 'module,state'],
  ['convergence_seconds', 'counter', 'activation'],
  ['convergence_total', 'counter', 'activation'],
  ['module_helm_seconds', 'summary', 'module,activation'],
  ['helm_operation_seconds', 'summary', 'module,activation,operation'],
  ['task_wait_in_queue_seconds_total', 'counter', 'module,hook,binding,queue'],
  ['tasks_queue_length', 'gauge', 'queue'],
  ['tasks_queue_head_info', 'gauge', 'queue,module,task_type,hook'],
  ['tasks_queue_action_duration_seconds', 'histogram', 'queue_name,queue_action'],
  ['d8_telemetry_{prefix}tasks_queue_compaction_operations_total', 'counter', 'queue_name,hook'],
  ['d8_telemetry_{prefix}tasks_queue_compaction_tasks_by_hook', 'gauge', 'queue_name,hook'],
  ['kube_snapshot_objects', 'gauge', BINDING],
  ['kube_jq_filter_duration_seconds', 'histogram', BINDING],
  ['kube_event_duration_seconds', 'histogram', BINDING],
  ['kubernetes_client_watch_errors_total', 'counter', 'error_type'],
  ['kubernetes_objects_set_aside_total', 'counter', 'kind'],
  ['binding_monitor_missing_total', 'counter', 'binding'],
  ['kubernetes_client_request_result_total', 'counter', 'component,code,method,host'],
  ['kubernetes_client_rate_limiter_latency_seconds', 'histogram', 'verb,url'],
  ...['global', 'module'].flatMap((owner) => {
    const labels = owner === 'module' ? `module,${HOOK}` : HOOK;
    return [
      [`${owner}_hook_run_seconds`, 'histogram', labels],
      [`${owner}_hook_run_user_cpu_seconds`, 'histogram', labels],
      [`${owner}_hook_run_sys_cpu_seconds`, 'histogram', labels],
      [`${owner}_hook_run_max_rss_bytes`, 'gauge', labels],
      [`${owner}_hook_success_total`, 'counter', labels],
      [`${owner}_hook_errors_total`, 'counter', labels],
      [`${owner}_hook_allowed_errors_total`, 'counter', labels],
    ] as const;
  }),
];

test.each(OF_THE_CONTRACT)('the metric %s is a %s with the labels "%s"', (name, type, labels) => {
  const found = Object.values(METRICS).find((definition) => definition.name === name);
  expect([found?.type, found?.labels.join(',')]).toEqual([type, labels]);
});

test('the prefix is put before a name, or where the name has a place for it', () => {
  expect(metricName('live_ticks', 'dev_')).toBe('dev_live_ticks');
  expect(metricName('d8_telemetry_{prefix}x', 'dev_')).toBe('d8_telemetry_dev_x');
});
