/** Settings of the HTTP server for metrics and probes. */

import { ownAnd, type Setting, type SettingsOf, setting, variable } from './setting.ts';
import { exceptWordType, metricPrefixType, portType, textType } from './setting-type.ts';

/** Settings of the HTTP server with metrics and probes. */
export const SERVER_SETTINGS = {
  listenAddress: setting(
    'prometheus-listen-address',
    ownAnd('LISTEN_ADDRESS', 'SHELL_OPERATOR_LISTEN_ADDRESS'),
    textType,
    '0.0.0.0',
    'Address of the HTTP server with metrics and probes.',
  ),
  listenPort: setting(
    'prometheus-listen-port',
    ownAnd('LISTEN_PORT', 'SHELL_OPERATOR_LISTEN_PORT'),
    portType,
    '9650',
    'Port of the HTTP server; 0 picks a free one.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type ServerSettings = SettingsOf<typeof SERVER_SETTINGS>;

/** Settings of the metrics that the operator exports. */
export const METRICS_SETTINGS = {
  // Some names have the prefix inside, as in the original: see `metrics/metric-table.ts`.
  metricsPrefix: setting(
    'prometheus-metrics-prefix',
    ownAnd('PROMETHEUS_METRICS_PREFIX', 'SHELL_OPERATOR_PROMETHEUS_METRICS_PREFIX'),
    metricPrefixType,
    'addon_operator_',
    'Prefix of the operator metrics.',
  ),
  hasQueueActionMetrics: variable(
    'QUEUE_ACTIONS_METRICS',
    exceptWordType('no'),
    'yes',
    'Export tasks_queue_action_duration_seconds.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type MetricsSettings = SettingsOf<typeof METRICS_SETTINGS>;
