/* Writes metrics in the Prometheus text format (version 0.0.4). */

/** One series with its figures; `value` is the sum of a histogram, `count` and `bucketCounts` are used by it alone. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
  count: number;
  /** How many observations fell into each bucket, not cumulated. */
  readonly bucketCounts: number[];
}

export interface Metric {
  readonly name: string;
  /** Default: the name. */
  readonly help?: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Sorted upper bounds of a histogram, without +Inf. */
  readonly buckets: readonly number[];
  readonly series: ReadonlyMap<string, Series>;
}

/**
 * Metrics in the Prometheus text format, sorted by name. All series of a metric get the union of their label names; what
 * a series lacks is empty.
 */
export function exposition(metrics: Iterable<Metric>): string {
  const lines: string[] = [];
  for (const metric of [...metrics].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    lines.push(`# HELP ${metric.name} ${metric.help ?? metric.name}`, `# TYPE ${metric.name} ${metric.type}`);
    // All series of a metric get the same label names, with empty values where a series has none.
    const names = new Set([...metric.series.values()].flatMap((series) => Object.keys(series.labels)));
    const sortedNames = [...names].toSorted();
    for (const series of metric.series.values()) {
      const labels = sortedNames.map((name) => `${name}="${escapeLabel(labelOf(series, name))}"`);
      if (metric.type === 'histogram') lines.push(...histogramLines(metric, series, labels));
      else lines.push(sampleLine(metric.name, labels, series.value));
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Every object has a `constructor` and a `toString`: only what the hook wrote counts. */
function labelOf({ labels }: Series, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : '';
}

/** Buckets are cumulated here; memory holds them separately, so that one observation changes one number. */
function histogramLines(metric: Metric, series: Series, labels: readonly string[]): string[] {
  let cumulated = 0;
  const lines = metric.buckets.map((bound, index) => {
    cumulated += series.bucketCounts[index] ?? 0;
    return sampleLine(`${metric.name}_bucket`, [...labels, `le="${bound}"`], cumulated);
  });
  return [
    ...lines,
    sampleLine(`${metric.name}_bucket`, [...labels, 'le="+Inf"'], series.count),
    sampleLine(`${metric.name}_sum`, labels, series.value),
    sampleLine(`${metric.name}_count`, labels, series.count),
  ];
}

function sampleLine(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${numberText(value)}`;
}

/** A value as Prometheus reads it: sums can leave the range of finite numbers. */
export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

/** The value of a label between its quotes. */
export function escapeLabel(value: string): string {
  return value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
