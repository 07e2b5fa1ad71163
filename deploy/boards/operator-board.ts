import { type Board, deployments, of, query, SELECTED } from './board.ts';

/** What the whole operator does: is it well, what waits, what is slow, what does it take. */
export const OPERATOR_BOARD: Board = {
  uid: 'addon-operator',
  title: 'Addon operator',
  description: 'Queues, modules, hooks and the process of the operator.',
  variables: [],
  marks: deployments(),
  rows: [
    {
      title: 'At a glance',
      panels: [
        {
          kind: 'stat',
          title: 'Modules ready',
          description: 'Modules whose last run succeeded.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_status', 'status="ready"')}) or vector(0)`)],
        },
        {
          kind: 'stat',
          title: 'Modules failing',
          description: 'Modules that fail, or wait for one that fails.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_status', 'status=~"failing|isolated"')}) or vector(0)`)],
          redFrom: 1,
        },
        {
          kind: 'stat',
          title: 'Tasks queued',
          description: 'Tasks in all queues.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('tasks_queue_length')})`)],
        },
        {
          kind: 'stat',
          title: 'Oldest head of a queue',
          description: 'How long the task has been at the head of its queue that has been there longest.',
          unit: 's',
          span: 4,
          queries: [query(`max(time() - ${of('tasks_queue_head_since_timestamp_seconds')}) or vector(0)`)],
          redFrom: 900,
        },
        {
          kind: 'stat',
          title: 'Objects drifted',
          description: 'Objects of releases that differ from what helm applied.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_drifted_resources')}) or vector(0)`)],
          redFrom: 1,
        },
        {
          kind: 'stat',
          title: 'Modules paused',
          description: 'Modules whose changes are not applied.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_paused')}) or vector(0)`)],
        },
        {
          kind: 'state-timeline',
          title: 'Active replica',
          description: '1 while a replica is active.',
          unit: 'short',
          span: 24,
          queries: [query(of('is_leader'), '{{instance}}')],
        },
      ],
    },
    {
      title: 'Queues',
      panels: [
        {
          kind: 'timeseries',
          title: 'Length of queues',
          description: 'Queues that were not empty.',
          unit: 'short',
          span: 12,
          queries: [query(`${of('tasks_queue_length')} > 0`, '{{queue}}')],
        },
        {
          kind: 'table',
          title: 'Heads of queues',
          description: 'What is at the head of each queue, and for how many seconds.',
          unit: 's',
          span: 12,
          queries: [
            query(
              `(time() - ${of('tasks_queue_head_since_timestamp_seconds')}) * on (cluster, instance, queue) group_left (module, hook, task_type) ${of('tasks_queue_head_info')}`,
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Waiting in queues',
          description: 'Seconds that tasks waited, for each second that passed.',
          unit: 'short',
          span: 12,
          queries: [
            query(
              `sum by (queue) (rate(${of('task_wait_in_queue_seconds_total')}[$__rate_interval]))`,
              '{{queue}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Failed attempts of heads',
          description: 'How often the head task of a queue has failed.',
          unit: 'short',
          span: 12,
          queries: [query(`${of('tasks_queue_head_failures')} > 0`, '{{queue}}')],
        },
      ],
    },
    {
      title: 'Modules and hooks',
      panels: [
        {
          kind: 'timeseries',
          title: 'Duration of converges',
          description: 'Mean duration of the converges that ended.',
          unit: 's',
          span: 8,
          queries: [
            query(
              `sum by (activation) (increase(${of('convergence_seconds')}[$__rate_interval])) / sum by (activation) (increase(${of('convergence_total')}[$__rate_interval]))`,
              '{{activation}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Module runs that fail',
          description: 'Failed attempts a second.',
          unit: 'short',
          span: 8,
          queries: [
            query(`sum by (module) (rate(${of('module_run_errors_total')}[$__rate_interval]))`, '{{module}}'),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Hook runs that fail',
          description: 'Failed runs a second, of tasks that are tried again.',
          unit: 'short',
          span: 8,
          queries: [
            query(
              `sum by (module, hook) (rate(${of('module_hook_errors_total')}[$__rate_interval]))`,
              '{{module}} {{hook}}',
            ),
            query(`sum by (hook) (rate(${of('global_hook_errors_total')}[$__rate_interval]))`, '{{hook}}'),
          ],
        },
        {
          kind: 'table',
          title: 'Slowest hooks',
          description: 'Mean duration of runs within the last hour.',
          unit: 's',
          span: 12,
          queries: [
            query(
              `topk(10, sum by (module, hook, binding) (increase(${of('module_hook_run_seconds_sum')}[1h])) / (sum by (module, hook, binding) (increase(${of('module_hook_run_seconds_count')}[1h])) > 0))`,
            ),
            query(
              `topk(10, sum by (hook, binding) (increase(${of('global_hook_run_seconds_sum')}[1h])) / (sum by (hook, binding) (increase(${of('global_hook_run_seconds_count')}[1h])) > 0))`,
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'helm operations',
          description: 'Mean duration.',
          unit: 's',
          span: 12,
          queries: [
            query(
              `sum by (operation) (rate(${of('helm_operation_seconds_sum')}[$__rate_interval])) / sum by (operation) (rate(${of('helm_operation_seconds_count')}[$__rate_interval]))`,
              '{{operation}}',
            ),
          ],
        },
      ],
    },
    {
      title: 'Modules from sources',
      panels: [
        {
          kind: 'stat',
          title: 'Updates in progress',
          description: 'Modules between the switch to a version and its last gate.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_update_running')}) or vector(0)`)],
        },
        {
          kind: 'stat',
          title: 'Versions failed',
          description: 'Modules whose installed or wanted version has failed its gates.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_update_failed')}) or vector(0)`)],
          redFrom: 1,
        },
        {
          kind: 'timeseries',
          title: 'Versions that wait',
          description: 'Modules whose wanted version is not installed, by reason and by who ends the wait.',
          unit: 'short',
          span: 16,
          queries: [
            query(`sum by (reason, needs) (${of('module_update_pending')})`, '{{reason}} ({{needs}})'),
          ],
        },
        {
          kind: 'table',
          title: 'Modules that wait',
          description: 'Each module whose wanted version is not installed. module versions says which one.',
          unit: 'short',
          span: 12,
          queries: [query(`max by (module, reason, needs) (${of('module_update_pending')})`)],
        },
        {
          kind: 'timeseries',
          title: 'Age of sources',
          description: 'Time since the versions of all modules of a source were looked up.',
          unit: 's',
          span: 12,
          queries: [
            query(
              `time() - max by (source) (${of('module_source_last_success_timestamp_seconds')})`,
              '{{source}}',
            ),
          ],
        },
      ],
    },
    {
      title: 'API server',
      panels: [
        {
          kind: 'timeseries',
          title: 'Requests',
          description: 'Requests a second by code.',
          unit: 'short',
          span: 8,
          queries: [
            query(
              `sum by (code) (rate(${of('kubernetes_client_request_result_total')}[$__rate_interval]))`,
              '{{code}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Duration of requests, p99',
          description: 'Until the response is complete; of a watch, until it begins.',
          unit: 's',
          span: 8,
          queries: [
            query(
              `histogram_quantile(0.99, sum by (le, verb) (rate(${of('kubernetes_client_rate_limiter_latency_seconds_bucket')}[$__rate_interval])))`,
              '{{verb}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Age of watches',
          description:
            'Time since the API server last confirmed the objects of the oldest binding of each kind.',
          unit: 's',
          span: 8,
          queries: [
            query(`max by (kind) (time() - ${of('watch_last_activity_timestamp_seconds')})`, '{{kind}}'),
          ],
        },
      ],
    },
    {
      title: 'Process',
      panels: [
        {
          kind: 'timeseries',
          title: 'Memory',
          description: 'Resident memory of the daemon, without hooks and helm.',
          unit: 'bytes',
          span: 8,
          queries: [query(`process_resident_memory_bytes{${SELECTED}}`, '{{instance}}')],
        },
        {
          kind: 'timeseries',
          title: 'CPU',
          description: 'Of the daemon, without hooks and helm.',
          unit: 'percentunit',
          span: 8,
          queries: [query(`rate(process_cpu_seconds_total{${SELECTED}}[$__rate_interval])`, '{{instance}}')],
        },
        {
          kind: 'timeseries',
          title: 'Delay of the event loop, p99',
          description: 'How late callbacks are.',
          unit: 's',
          span: 8,
          queries: [
            query(
              `histogram_quantile(0.99, sum by (le, instance) (rate(${of('event_loop_delay_seconds_bucket')}[$__rate_interval])))`,
              '{{instance}}',
            ),
          ],
        },
      ],
    },
  ],
};
