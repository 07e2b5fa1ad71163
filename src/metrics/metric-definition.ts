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
