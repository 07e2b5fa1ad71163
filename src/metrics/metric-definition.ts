/** One metric that a program has about itself. */
export interface MetricDefinition<L extends string> {
  /** A summary has no quantiles: it is a sum and a count. */
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Name without the prefix, which goes before it, or where a name has `{prefix}`. */
  readonly name: string;
  readonly labels: readonly L[];
  readonly help: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets: readonly number[];
}

/** A row for a value that only grows. */
export function counter<const L extends string>(name: string, labels: readonly L[], help: string) {
  return { type: 'counter', name, labels, help, buckets: [] } as const;
}

/** A row for a value that is set, or read at the scrape. */
export function gauge<const L extends string>(name: string, labels: readonly L[], help: string) {
  return { type: 'gauge', name, labels, help, buckets: [] } as const;
}

/** A row for durations of which only sum and count are exported: buckets for each operation of each module are too many. */
export function summary<const L extends string>(name: string, labels: readonly L[], help: string) {
  return { type: 'summary', name, labels, help, buckets: [] } as const;
}

/** The full name of a metric with the prefix of the settings. */
export function metricName(name: string, prefix: string): string {
  return name.includes(PREFIX_MARK) ? name.replace(PREFIX_MARK, prefix) : `${prefix}${name}`;
}

/** Marks the place of the prefix in names that do not begin with it. */
const PREFIX_MARK = '{prefix}';
