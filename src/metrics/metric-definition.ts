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

/** The full name of a metric with the prefix of the settings. */
export function metricName(name: string, prefix: string): string {
  return name.includes(PREFIX_MARK) ? name.replace(PREFIX_MARK, prefix) : `${prefix}${name}`;
}

/** Marks the place of the prefix in names that do not begin with it. */
const PREFIX_MARK = '{prefix}';
