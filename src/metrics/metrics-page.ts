/** Generates `docs/metrics.md`; `test/checks` compares the file with it. */

import { markdownTable } from '@addon-operator/strings/markdown-table';
import { EVENT_LOOP_RESOLUTION_MS } from './event-loop-delay.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { EVENT_LOOP_DELAY, METRICS } from './metric-table.ts';

/** How many series there are of each, for each value of `activation` if they have that label; a test counts them. */
export const SERIES_BUDGET = {
  moduleRuns: 13,
  hookRuns: 23,
  globalHookRuns: 31,
  bindingObjects: 11,
  queueActions: 42,
};

/** The fields of an operation that hooks write. */
const HOOK_FIELDS = [
  ['`name`', 'name of the metric'],
  ['`action`', '`add` (counter), `set` (gauge), `observe` (histogram), `expire`'],
  ['`value`', 'a number; what is added is cut to a whole number and must not be negative'],
  ['`add`, `set`', 'shorthand for action and value'],
  [
    '`buckets`',
    'upper bounds of a histogram, `[]` for the default buckets; the bounds of the first use are kept',
  ],
  ['`labels`', 'an object of strings; `hook` and `module` are set by the daemon'],
  ['`group`', 'group of the series; default: the hook itself'],
];

/** The page `docs/metrics.md`, made from the table of metrics. */
export function metricsPage(): string {
  const definitions: readonly MetricDefinition<string>[] = [...Object.values(METRICS), EVENT_LOOP_DELAY];
  return `# Metrics

This page lists all metrics. It is generated from \`src/metrics/metric-table.ts\`.

## About the daemon: \`/metrics\`

Each name begins with the prefix of \`--prometheus-metrics-prefix\`, by default \`addon_operator_\`, or contains it where
the table has \`{prefix}\`. Durations are in seconds. The metrics of the process (\`process_*\`, \`nodejs_*\`) have no prefix.
\`nodejs_eventloop_lag_seconds\` is the delay at the moment of the scrape. \`event_loop_delay_seconds\` is a histogram of all delays
since the start, measured every ${EVENT_LOOP_RESOLUTION_MS} ms.

${markdownTable(['Name', 'Type', 'Labels', 'Meaning'], definitions.map(row))}
- \`module\`, if the metric has this label, is empty for a global hook.
- \`binding\` is the type of the binding (\`onStartup\`, \`kubernetes\`, …) in metrics of hook runs, and its name in metrics of
  snapshots, filters and events.
- \`activation\` is \`OperatorStartup\` for everything that the start caused. In helm and converge metrics it can be another
  event, such as \`GlobalValuesChanged\`; for hook and module runs it is then empty.
${bucketLines(definitions)}

### Number of series

| Of | Series |
| --- | --: |
| the daemon itself, without modules | about 300 |
| a module with a chart: its runs and those of helm | ${SERIES_BUDGET.moduleRuns} |
| a binding of a module hook: its runs | ${SERIES_BUDGET.hookRuns} |
| a binding of a global hook: its runs | ${SERIES_BUDGET.globalHookRuns} |
| a kubernetes binding: its objects and events | ${SERIES_BUDGET.bindingObjects}, and 2 to 4 gauges |
| a queue: what is done to it (\`QUEUE_ACTIONS_METRICS=no\` drops them) | ${SERIES_BUDGET.queueActions} |
| a queue, a module: gauges | at most 5, at most 8 |

Runs that the start caused have series of their own (\`activation="OperatorStartup"\`). In a tree in which every third module has hooks, a module has at most 60 series on average; a test counts them. Histograms of modules, their hooks and bindings have few buckets, since there is one for each of them.

Durations of helm (\`module_helm_seconds\`, \`helm_operation_seconds\`) are summaries without quantiles, \`_sum\` and \`_count\`. They give the mean: \`rate(…_sum[5m]) / rate(…_count[5m])\`. [Runs](running.md#commands) (\`runs list\`) and [traces](traces.md) have the duration of each one. Histograms have few buckets. There are no native histograms, because prom-client and the text format of the scrape do not support them.

## From hooks: \`/metrics/hooks\`

What hooks write to the file \`METRICS_PATH\`: JSON objects, one after another. Names are exported as they are given.

${markdownTable(['Field', 'Meaning'], HOOK_FIELDS)}
- A run replaces all series of every group that it writes to. So counters add up within a run, not over several runs. A run that
  writes nothing changes nothing.
- \`expire\` removes all series of a group, including those of other hooks.
- Any mistake in the file fails the hook, and nothing in the file is applied. An unknown action, or a metric whose name is in use
  with another type, is only skipped with a warning.
- A hook may have 10,000 series. More are dropped and counted in \`hook_metrics_dropped_series_total\`.
`;
}

/** Those of most histograms last. */
function bucketLines(definitions: readonly MetricDefinition<string>[]): string {
  const histograms = definitions.filter(({ type }) => type === 'histogram');
  const groups = Map.groupBy(histograms, ({ buckets }) => buckets.join(', '));
  return [...groups]
    .toSorted(([, one], [, other]) => one.length - other.length)
    .map(([buckets, members], index) => {
      const names = members.map(({ name }) => `\`${name}\``).join(', ');
      const who = index === groups.size - 1 ? 'all other histograms' : names;
      return `- Buckets of ${who}: ${buckets}.`;
    })
    .join('\n');
}

/** One row of the table of metrics. */
function row({ name, type, labels, help }: MetricDefinition<string>): string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help];
}
