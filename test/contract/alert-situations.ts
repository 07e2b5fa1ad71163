/** A series as promtool expands it: `0+1x20` is 0, 1, 2 … 20, one value a minute. */
export interface Sample {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly values: string;
}

/** When an alert fires and when it must not. */
export interface AlertSituation {
  readonly alert: string;
  readonly fires: readonly Sample[];
  /** Like `fires`, but for what makes it harmless. */
  readonly quiet: readonly Sample[];
  /** Minutes after the beginning, when both are looked at. */
  readonly atMinutes: number;
  /** Labels of the alert besides those of every series here, its name and its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels of every series that the alert has no longer. */
  readonly drops?: readonly ('job' | 'instance' | 'namespace')[];
  readonly severity: 'info' | 'warning' | 'critical';
  readonly summary: string;
}

const HEAD = { queue: 'main', module: 'web', hook: '', task_type: 'ModuleRun' };
const WEB = { module: 'web' };
const HOOK = { module: 'web', hook: 'hooks/a.sh' };
const OBJECT = { ...WEB, resource: 'default/Deployment/web' };
const BINDING = { ...HOOK, binding: 'pods', kind: 'Pod' };

/** One sample; names without the prefix `addon_operator_`, unless they begin with `process_`. */
function of(name: string, values: string, labels: Readonly<Record<string, string>> = {}): Sample {
  return { name: name.startsWith('process_') ? name : `addon_operator_${name}`, labels, values };
}

export const ALERT_SITUATIONS: readonly AlertSituation[] = [
  {
    alert: 'AddonOperatorQueueHeadStuck',
    severity: 'warning',
    fires: [
      of('tasks_queue_head_since_timestamp_seconds', '0x30', { queue: 'main' }),
      of('tasks_queue_head_info', '1x30', HEAD),
    ],
    // The module at the head of this queue is paused.
    quiet: [
      of('tasks_queue_head_since_timestamp_seconds', '0x30', { queue: 'main' }),
      of('tasks_queue_head_info', '1x30', HEAD),
      of('module_paused', '1x30', WEB),
    ],
    atMinutes: 25,
    labels: HEAD,
    summary: 'Queue main has been at the same task for 25m 0s',
  },
  {
    alert: 'AddonOperatorQueueGrows',
    severity: 'warning',
    fires: [of('tasks_queue_length', '90+10x90', { queue: 'main' })],
    quiet: [of('tasks_queue_length', '900-5x90', { queue: 'main' })],
    atMinutes: 60,
    labels: { queue: 'main' },
    summary: 'Queue main has 690 tasks and grows',
  },
  {
    alert: 'AddonOperatorHookRunsLong',
    severity: 'warning',
    fires: [
      of('hook_running_since_timestamp_seconds', '0x60', { ...HOOK, binding: 'schedule', queue: 'main' }),
    ],
    quiet: [
      of('hook_running_since_timestamp_seconds', '0+60x60', { ...HOOK, binding: 'schedule', queue: 'main' }),
    ],
    atMinutes: 31,
    labels: { ...HOOK, binding: 'schedule', queue: 'main' },
    summary: 'Hook hooks/a.sh has been running for 31m 0s',
  },
  {
    alert: 'AddonOperatorEventsDropped',
    severity: 'warning',
    fires: [of('hook_backlog_dropped_events_total', '0x5 3x20', HOOK)],
    quiet: [of('hook_backlog_dropped_events_total', '3x30', HOOK)],
    atMinutes: 12,
    labels: HOOK,
    summary: 'Events for hook hooks/a.sh were dropped',
  },
  {
    alert: 'AddonOperatorModuleFails',
    severity: 'warning',
    fires: [of('module_status', '1x30', { ...WEB, status: 'failing' })],
    quiet: [of('module_status', '1x30', { ...WEB, status: 'paused' })],
    atMinutes: 20,
    labels: { ...WEB, status: 'failing' },
    summary: 'Module web cannot be deployed',
  },
  {
    alert: 'AddonOperatorModuleNotDeleted',
    severity: 'warning',
    fires: [of('module_delete_errors_total', '1+1x30', WEB)],
    quiet: [of('module_delete_errors_total', '1x30', WEB)],
    atMinutes: 20,
    labels: WEB,
    summary: 'Module web cannot be deleted',
  },
  {
    alert: 'AddonOperatorModuleUnauthorized',
    severity: 'warning',
    fires: [of('module_unauthorized', '1x30', WEB)],
    quiet: [of('module_unauthorized', '1x5', WEB)],
    atMinutes: 20,
    labels: WEB,
    summary: 'Module web is not run',
  },
  {
    alert: 'AddonOperatorPausedLong',
    severity: 'info',
    fires: [of('module_paused', '1x1600', WEB)],
    quiet: [of('module_paused', '1x600 _x90 1x910', WEB)],
    atMinutes: 1_560,
    labels: WEB,
    summary: 'Module web has been paused for a day',
  },
  {
    alert: 'AddonOperatorDriftUnhealed',
    severity: 'warning',
    fires: [of('module_drifted_resources', '2x90', WEB)],
    quiet: [of('module_drifted_resources', '2x30 0x60', WEB)],
    atMinutes: 65,
    labels: WEB,
    summary: '2 objects of module web differ from what helm applied',
  },
  {
    alert: 'AddonOperatorDriftFight',
    severity: 'warning',
    fires: [of('modules_healed_resources_total', '1+1x60', OBJECT)],
    quiet: [of('modules_healed_resources_total', '1x20 2x20 3x20', OBJECT)],
    atMinutes: 30,
    labels: OBJECT,
    summary: 'default/Deployment/web of module web is corrected again and again',
  },
  {
    alert: 'AddonOperatorHookFails',
    severity: 'warning',
    fires: [
      of('module_hook_errors_total', '1+1x30', {
        ...HOOK,
        binding: 'schedule',
        queue: 'main',
        activation: '',
      }),
    ],
    quiet: [
      of('module_hook_errors_total', '1x10 2x20', {
        ...HOOK,
        binding: 'schedule',
        queue: 'main',
        activation: '',
      }),
    ],
    atMinutes: 15,
    labels: HOOK,
    drops: ['namespace'],
    summary: 'Hook hooks/a.sh of module web fails again and again',
  },
  {
    alert: 'AddonOperatorHookAllowedFailures',
    severity: 'info',
    fires: [
      of('global_hook_allowed_errors_total', '1+1x30', {
        hook: 'b.sh',
        binding: 'schedule',
        queue: 'main',
        activation: '',
      }),
    ],
    quiet: [
      of('global_hook_allowed_errors_total', '4x30', {
        hook: 'b.sh',
        binding: 'schedule',
        queue: 'main',
        activation: '',
      }),
    ],
    atMinutes: 15,
    labels: { hook: 'b.sh' },
    drops: ['namespace'],
    summary: 'Hook b.sh fails, which is allowed',
  },
  {
    alert: 'AddonOperatorMissedTicks',
    severity: 'warning',
    fires: [of('schedule_missed_ticks_total', '0x5 2x20', { crontab: '* * * * *' })],
    quiet: [of('schedule_missed_ticks_total', '2x30', { crontab: '* * * * *' })],
    atMinutes: 10,
    labels: { crontab: '* * * * *' },
    summary: 'Ticks of the schedule * * * * * were missed',
  },
  {
    alert: 'AddonOperatorMetricsDropped',
    severity: 'info',
    fires: [of('hook_metrics_dropped_series_total', '0x5 9x20', HOOK)],
    quiet: [of('hook_metrics_dropped_series_total', '9x30', HOOK)],
    atMinutes: 10,
    labels: HOOK,
    summary: 'Metrics of hook hooks/a.sh are dropped',
  },
  {
    alert: 'AddonOperatorDiscoveryFails',
    severity: 'critical',
    fires: [of('modules_discover_errors_total', '0+1x30')],
    quiet: [of('modules_discover_errors_total', '0x10 1x20')],
    atMinutes: 20,
    summary: 'The operator cannot decide which modules are enabled',
  },
  {
    alert: 'AddonOperatorConfigInvalid',
    severity: 'warning',
    fires: [of('config_values_errors_total', '0+12x30')],
    quiet: [of('config_values_errors_total', '0+12x3 36x20')],
    atMinutes: 20,
    summary: 'The ConfigMap of the operator is not valid',
  },
  {
    alert: 'AddonOperatorFirstConvergeSlow',
    severity: 'warning',
    fires: [of('process_start_time_seconds', '0x60'), of('is_leader', '1x60')],
    quiet: [
      of('process_start_time_seconds', '0x60'),
      of('is_leader', '1x60'),
      of('convergence_total', '1x60', { activation: 'OperatorStartup' }),
    ],
    atMinutes: 35,
    summary: 'The first converge has not ended within 35m 0s',
  },
  {
    alert: 'AddonOperatorHangs',
    severity: 'critical',
    fires: [of('live_ticks', '7x30'), of('is_leader', '1x30')],
    quiet: [of('live_ticks', '7x30'), of('is_leader', '0x30')],
    atMinutes: 15,
    summary: 'The operator responds, but its event loop has stopped',
  },
  {
    alert: 'AddonOperatorAbsent',
    severity: 'critical',
    fires: [of('live_ticks', '7x30')],
    quiet: [of('is_leader', '0x30')],
    atMinutes: 10,
    drops: ['job', 'instance', 'namespace'],
    summary: 'Prometheus has no metrics of the operator',
  },
  {
    alert: 'AddonOperatorNoLeader',
    severity: 'critical',
    fires: [of('is_leader', '0x30')],
    quiet: [of('is_leader', '0x30'), of('is_leader', '1x30', { instance: 'b' })],
    atMinutes: 5,
    drops: ['instance'],
    summary: 'No replica of the operator is active',
  },
  {
    alert: 'AddonOperatorTwoLeaders',
    severity: 'critical',
    fires: [of('is_leader', '1x30'), of('is_leader', '1x30', { instance: 'b' })],
    // Two operators, each with a namespace of its own.
    quiet: [of('is_leader', '1x30'), of('is_leader', '1x30', { instance: 'b', namespace: 'other' })],
    atMinutes: 5,
    drops: ['instance'],
    summary: '2 replicas of the operator are active',
  },
  {
    alert: 'AddonOperatorCrashLoops',
    severity: 'critical',
    fires: [of('process_start_time_seconds', '0+300x60'), of('is_leader', '1x60')],
    quiet: [of('process_start_time_seconds', '0x30 1800x30'), of('is_leader', '1x60')],
    atMinutes: 10,
    summary: 'The operator started 10 times within an hour',
  },
  {
    alert: 'AddonOperatorMemoryHigh',
    severity: 'warning',
    fires: [of('process_resident_memory_bytes', '1073741824x30'), of('is_leader', '1x30')],
    // Of another program.
    quiet: [of('process_resident_memory_bytes', '1073741824x30')],
    atMinutes: 20,
    summary: 'The operator uses 1GiB of memory',
  },
  {
    alert: 'AddonOperatorEventLoopSlow',
    severity: 'warning',
    fires: [
      of('event_loop_delay_seconds_bucket', '0+0x40', { le: '1' }),
      of('event_loop_delay_seconds_bucket', '0+100x40', { le: '5' }),
      of('event_loop_delay_seconds_bucket', '0+100x40', { le: '+Inf' }),
    ],
    quiet: [
      of('event_loop_delay_seconds_bucket', '0+100x40', { le: '1' }),
      of('event_loop_delay_seconds_bucket', '0+100x40', { le: '5' }),
      of('event_loop_delay_seconds_bucket', '0+100x40', { le: '+Inf' }),
    ],
    atMinutes: 30,
    drops: ['namespace'],
    summary: 'The event loop of the operator is delayed by 4.96s',
  },
  {
    alert: 'AddonOperatorLogDropped',
    severity: 'info',
    fires: [of('log_records_dropped_total', '0x5 4x20')],
    quiet: [of('log_records_dropped_total', '4x30')],
    atMinutes: 10,
    summary: 'Log records of the operator were dropped',
  },
  {
    alert: 'AddonOperatorModuleSourceUnavailable',
    severity: 'warning',
    fires: [of('module_source_ready', '0x40', { source: 'platform' })],
    // It was away for twenty minutes.
    quiet: [of('module_source_ready', '0x20 1x20', { source: 'platform' })],
    atMinutes: 35,
    labels: { source: 'platform' },
    summary: 'ModuleSource platform cannot be read',
  },
  {
    alert: 'AddonOperatorModuleUpdateRefused',
    severity: 'warning',
    fires: [of('module_update_pending', '1x30', { ...WEB, reason: 'Unverified', needs: 'fix' })],
    quiet: [of('module_update_pending', '1x30', { ...WEB, reason: 'Soaking', needs: 'time' })],
    atMinutes: 20,
    labels: { ...WEB, reason: 'Unverified', needs: 'fix' },
    summary: 'An update of module web is refused (Unverified)',
  },
  {
    alert: 'AddonOperatorModuleUpdateWaits',
    severity: 'info',
    fires: [of('module_update_pending', '1x1500', { ...WEB, reason: 'NeedsApproval', needs: 'decision' })],
    // A window that opens needs nobody.
    quiet: [of('module_update_pending', '1x1500', { ...WEB, reason: 'OutsideWindow', needs: 'time' })],
    atMinutes: 1_500,
    labels: { ...WEB, reason: 'NeedsApproval', needs: 'decision' },
    summary: 'An update of module web has been waiting for a person for a day (NeedsApproval)',
  },
  {
    alert: 'AddonOperatorModuleUpdateFailed',
    severity: 'warning',
    fires: [of('module_update_failed', '1x10', WEB)],
    quiet: [of('module_update_running', '1x10', WEB)],
    atMinutes: 5,
    labels: WEB,
    summary: 'An update of module web has failed',
  },
  {
    alert: 'AddonOperatorModuleUpdateHangs',
    severity: 'warning',
    fires: [of('module_update_running', '1x400', WEB)],
    // Its gates pass after an hour.
    quiet: [of('module_update_running', '1x60 stale', WEB)],
    atMinutes: 390,
    labels: WEB,
    summary: 'An update of module web has not passed its gates for six hours',
  },
  {
    alert: 'AddonOperatorModuleContentMissing',
    severity: 'critical',
    fires: [of('module_content_missing', '1x20', WEB)],
    // A pull that takes a minute.
    quiet: [of('module_content_missing', '1x1 stale', WEB)],
    atMinutes: 10,
    labels: WEB,
    summary: 'The files of module web are missing',
  },
  {
    alert: 'AddonOperatorWatchStale',
    severity: 'warning',
    fires: [of('watch_last_activity_timestamp_seconds', '0x30', { ...BINDING, queue: 'main' })],
    quiet: [of('watch_last_activity_timestamp_seconds', '0+60x30', { ...BINDING, queue: 'main' })],
    atMinutes: 20,
    labels: BINDING,
    drops: ['namespace'],
    summary: 'The objects of binding pods of hook hooks/a.sh are out of date',
  },
  {
    alert: 'AddonOperatorApiErrors',
    severity: 'warning',
    fires: [
      of('kubernetes_client_request_result_total', '0+90x30', {
        code: '200',
        component: 'main',
        method: 'GET',
        host: 'h',
      }),
      of('kubernetes_client_request_result_total', '0+10x30', {
        code: '<error>',
        component: 'main',
        method: 'GET',
        host: 'h',
      }),
    ],
    // What the API server refuses is not its failure.
    quiet: [
      of('kubernetes_client_request_result_total', '0+90x30', {
        code: '200',
        component: 'main',
        method: 'GET',
        host: 'h',
      }),
      of('kubernetes_client_request_result_total', '0+10x30', {
        code: '404',
        component: 'main',
        method: 'GET',
        host: 'h',
      }),
    ],
    atMinutes: 20,
    drops: ['namespace'],
    summary: '10% of the requests to the API server fail',
  },
  {
    alert: 'AddonOperatorLeaseErrors',
    severity: 'warning',
    fires: [of('lease_errors_total', '0+1x30')],
    quiet: [of('lease_errors_total', '0x10 1x20')],
    atMinutes: 20,
    summary: 'The operator cannot renew its lease',
  },
  {
    alert: 'AddonOperatorCertificateExpires',
    severity: 'critical',
    fires: [of('webhook_certificate_expiry_timestamp_seconds', '172800x90', { server: 'validating' })],
    quiet: [of('webhook_certificate_expiry_timestamp_seconds', '8640000x90', { server: 'validating' })],
    atMinutes: 65,
    labels: { server: 'validating' },
    summary: 'The certificate of the validating webhooks expires in 1d 22h 55m 0s',
  },
];
