import { type Board, deployments, of, query } from './board.ts';

const MODULE = 'module="$module"';

/** What one module does. */
export const MODULE_BOARD: Board = {
  uid: 'addon-operator-module',
  title: 'Addon operator: module',
  description: 'Status, runs, hooks and objects of one module.',
  variables: [{ label: 'module', metric: 'addon_operator_mm_module_info' }],
  marks: deployments(MODULE),
  rows: [
    {
      title: 'Status',
      panels: [
        {
          kind: 'state-timeline',
          title: 'Status',
          description: 'The status that has the value 1.',
          unit: 'short',
          span: 16,
          queries: [query(of('module_status', MODULE), '{{status}}')],
        },
        {
          kind: 'stat',
          title: 'Since the last success',
          description: 'Time since the last successful run of this daemon.',
          unit: 's',
          span: 4,
          queries: [query(`time() - ${of('module_last_success_timestamp_seconds', MODULE)}`)],
        },
        {
          kind: 'stat',
          title: 'Objects drifted',
          description: 'Objects of the release that differ from what helm applied.',
          unit: 'short',
          span: 4,
          queries: [query(`sum(${of('module_drifted_resources', MODULE)}) or vector(0)`)],
          redFrom: 1,
        },
      ],
    },
    {
      title: 'Runs',
      panels: [
        {
          kind: 'timeseries',
          title: 'Runs',
          description: 'Runs that ended, and failed attempts, within five minutes.',
          unit: 'short',
          span: 12,
          queries: [
            query(`sum(increase(${of('module_run_seconds_count', MODULE)}[5m]))`, 'ended'),
            query(`sum(increase(${of('module_run_errors_total', MODULE)}[5m]))`, 'failed'),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Duration',
          description: 'Mean duration of runs, and what helm takes of it.',
          unit: 's',
          span: 12,
          queries: [
            query(
              `sum(rate(${of('module_run_seconds_sum', MODULE)}[$__rate_interval])) / sum(rate(${of('module_run_seconds_count', MODULE)}[$__rate_interval]))`,
              'run',
            ),
            query(
              `sum(rate(${of('module_helm_seconds_sum', MODULE)}[$__rate_interval])) / sum(rate(${of('module_helm_seconds_count', MODULE)}[$__rate_interval]))`,
              'helm',
            ),
          ],
        },
      ],
    },
    {
      title: 'Hooks',
      panels: [
        {
          kind: 'timeseries',
          title: 'Duration of hooks',
          description: 'Mean duration of runs.',
          unit: 's',
          span: 8,
          queries: [
            query(
              `sum by (hook) (rate(${of('module_hook_run_seconds_sum', MODULE)}[$__rate_interval])) / sum by (hook) (rate(${of('module_hook_run_seconds_count', MODULE)}[$__rate_interval]))`,
              '{{hook}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'CPU of hooks',
          description: 'Processors that successful runs use.',
          unit: 'short',
          span: 8,
          queries: [
            query(
              `sum by (hook) (rate(${of('module_hook_run_user_cpu_seconds_sum', MODULE)}[$__rate_interval]) + rate(${of('module_hook_run_sys_cpu_seconds_sum', MODULE)}[$__rate_interval]))`,
              '{{hook}}',
            ),
          ],
        },
        {
          kind: 'timeseries',
          title: 'Memory of hooks',
          description: 'Peak of the last successful run.',
          unit: 'bytes',
          span: 8,
          queries: [query(`max by (hook) (${of('module_hook_run_max_rss_bytes', MODULE)})`, '{{hook}}')],
        },
        {
          kind: 'timeseries',
          title: 'Objects in snapshots',
          description: 'How many objects the bindings of the hooks hold.',
          unit: 'short',
          span: 12,
          queries: [query(of('kube_snapshot_objects', MODULE), '{{hook}} {{binding}}')],
        },
        {
          kind: 'table',
          title: 'Last success of hooks',
          description: 'Seconds since the last successful run.',
          unit: 's',
          span: 12,
          queries: [query(`time() - ${of('hook_last_success_timestamp_seconds', MODULE)}`)],
        },
      ],
    },
  ],
};
