import { silentLogger } from '@addon-operator/base/log';
import { HookMetrics } from '@addon-operator/metrics/hook-metrics';
import { parseMetricOperations } from '@addon-operator/metrics/metric-operation';

const metrics = new HookMetrics({
  log: silentLogger,
  redact: (text) => text,
  onSeriesDropped: () => undefined,
});
const written = `
  {"name": "orders_total", "action": "add", "value": 2, "labels": {"shop": "main"}}
  {"name": "free_bytes", "action": "set", "value": 1024}`;
for (let run = 1; run <= 2; run += 1)
  metrics.apply({ hook: 'count.sh' }, parseMetricOperations(written).operations);
console.log(metrics.scrape().trimEnd());
