/** One metric that a program has about itself. */
export interface MetricDefinition<L extends string> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Name without the prefix, which goes before it, or where a name has `{prefix}`. */
  readonly name: string;
  readonly labels: readonly L[];
  readonly help: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets: readonly number[];
}
