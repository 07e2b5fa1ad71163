/**
 * The effects of a run in a form that can be compared: the order of metrics does not matter, the last value of a gauge
 * counts, counters add up.
 */

import { canonicalJson } from '@addon-operator/json';

/** The effects of the outputs of a run. */
export interface RunEffects {
  /** Operations on objects, in order. */
  readonly operations: readonly unknown[];
  /** The section of the values after the patch. */
  readonly values: unknown;
  readonly configValues: unknown;
  /** Enabled flags of modules. */
  readonly flags: readonly unknown[];
  /** Operations on metrics. */
  readonly metrics: readonly RecordedMetric[];
  readonly admission?: unknown;
  readonly conversion?: unknown;
}

export interface RecordedMetric {
  readonly action: string;
  readonly name?: string;
  readonly group?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value?: unknown;
  readonly buckets?: readonly number[];
}

/** One series while its operations are combined. */
interface Series {
  readonly name: string;
  readonly group: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly action: string;
  readonly buckets?: readonly number[] | undefined;
  readonly value: unknown;
}

/**
 * The result of operations on metrics: for each series its last value, its sum, or its observations. In which order
 * a hook writes different series does not matter. What was written of a group before it expired does not count.
 */
export function bySeries(operations: readonly RecordedMetric[]): readonly unknown[] {
  const series = new Map<string, Series>();
  const expired = new Set<string>();
  for (const { action, name = '', group = '', labels = {}, value, buckets } of operations) {
    if (action === 'expire') {
      expired.add(group);
      for (const [key, each] of series) if (each.group === group) series.delete(key);
      continue;
    }
    const key = canonicalJson({ action, name, group, labels });
    const before = series.get(key)?.value;
    series.set(key, { name, group, labels, action, buckets, value: combined(action, before, value) });
  }
  return [
    ...[...expired].toSorted().map((group) => ({ expired: group })),
    ...[...series].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each),
  ];
}

/** Gauges keep the last value, counters add, histograms collect. */
function combined(action: string, before: unknown, value: unknown): unknown {
  if (action === 'observe') return [...(Array.isArray(before) ? before : []), value];
  if (action === 'add') return Number(before ?? 0) + Number(value);
  return value;
}

/** Whether the outputs of two runs come to the same. */
export function sameEffects(a: RunEffects, b: RunEffects): boolean {
  return canonicalJson(comparable(a)) === canonicalJson(comparable(b));
}

/** The effects as they are compared. */
export function comparable({ metrics, ...effects }: RunEffects): Readonly<Record<string, unknown>> {
  // A round through JSON drops what is undefined.
  return JSON.parse(JSON.stringify({ ...effects, metrics: bySeries(metrics) })) as Record<string, unknown>;
}
