/**
 * The metrics that hooks emit, served at `/metrics/hooks`. `hook-runs/apply-outputs.ts` applies the operations of a run
 * after the run succeeded. Series belong to a group; a run replaces the groups that it writes to. The number of series of
 * a hook is bounded, and secrets in labels are masked, so a broken hook can neither fill the memory nor leak.
 */

import type { Logger } from '@addon-operator/base/log';
import { exposition, type Metric, type Series } from './exposition.ts';
import type { MetricOperation } from './metric-operation.ts';

/** The hook that metrics belong to; they carry its names as labels. */
export interface HookLabels {
  /** Absent for a global hook. */
  readonly module?: string;
  readonly hook: string;
}

export interface HookMetricsOptions {
  readonly log: Logger;
  /** Masks secrets in values of labels; series that become equal are merged. */
  readonly redact: (value: string) => string;
  /** Whether hooks share groups of the same name, or each hook has its own. Default `shared`. */
  readonly groups?: 'shared' | 'hook';
  /** More series of one hook than this are dropped. Default 10,000. */
  readonly maxSeriesPerHook?: number;
  /** Called with how many series of a hook were dropped in one run. */
  readonly onSeriesDropped: (
    labels: { readonly module: string; readonly hook: string },
    series: number,
  ) => void;
}

/** A series with what is needed to remove it: metric, key, group, and the hook that wrote it. */
interface OwnedSeries extends Series {
  readonly metric: OwnedMetric;
  readonly key: string;
  readonly group: string;
  readonly owner: string;
}

interface OwnedMetric extends Metric {
  readonly series: Map<string, OwnedSeries>;
}

type SampleOperation = Exclude<MetricOperation, { readonly action: 'expire' }>;

const TYPES = { add: 'counter', set: 'gauge', observe: 'histogram' } as const;
const HISTOGRAM_SUFFIXES = ['_bucket', '_sum', '_count'];
const DEFAULT_MAX_SERIES = 10_000;

/** The metrics that hooks emit. {@link HookMetrics.scrape} is valid for Prometheus, no matter what they emit. */
export class HookMetrics {
  readonly #options: HookMetricsOptions;
  readonly #metrics = new Map<string, OwnedMetric>();
  readonly #groups = new Map<string, Set<OwnedSeries>>();
  readonly #seriesOfOwner = new Map<string, number>();
  /** Hooks that were warned about because they removed series of another hook. */
  readonly #warnedOwners = new Set<string>();

  constructor(options: HookMetricsOptions) {
    this.#options = options;
  }

  /** All series in the Prometheus text format. */
  scrape(): string {
    return exposition(this.#metrics.values());
  }

  /**
   * Applies what one hook run emitted. Every group that occurs is emptied first, so a run replaces what earlier runs
   * put there. An operation that does not fit a metric of another type is logged and left out.
   */
  apply(labels: HookLabels, operations: readonly MetricOperation[]): void {
    const groups = new Set(operations.map((operation) => this.#groupOf(labels, operation)));
    for (const group of groups) {
      this.#warnOfOthers(labels, group);
      this.#expire(group);
    }
    let dropped = 0;
    for (const operation of operations) {
      if (operation.action === 'expire') this.#expire(this.#groupOf(labels, operation));
      else if (!this.#applySample(labels, operation)) dropped += 1;
    }
    if (dropped === 0) return;
    this.#options.onSeriesDropped({ module: labels.module ?? '', hook: labels.hook }, dropped);
    this.#options.log.warn(
      { ...labels, dropped },
      'hook has too many metric series; further series are dropped',
    );
  }

  /** False when the hook has reached its limit of series. */
  #applySample(labels: HookLabels, operation: SampleOperation): boolean {
    const metric = this.#metricFor(operation);
    if (metric === undefined) {
      const { name, action } = operation;
      this.#options.log.error(
        { ...labels, metric: name, action },
        'metric already has another type; the operation is dropped',
      );
      return true;
    }
    const owner = ownerOf(labels);
    const seriesLabels = withoutEmpty({ ...this.#redacted(operation.labels), ...labels });
    const key = JSON.stringify(seriesLabels);
    const group = this.#groupOf(labels, operation);
    let series = metric.series.get(key);
    // The series moves to the group that wrote it last, and starts at zero.
    if (series !== undefined && series.group !== group) {
      this.#remove(series);
      this.#metrics.set(metric.name, metric);
      series = undefined;
    }
    if (series === undefined) {
      const maxSeries = this.#options.maxSeriesPerHook ?? DEFAULT_MAX_SERIES;
      if ((this.#seriesOfOwner.get(owner) ?? 0) >= maxSeries) {
        if (metric.series.size === 0) this.#metrics.delete(metric.name);
        return false;
      }
      const bucketCounts = metric.buckets.map(() => 0);
      series = { metric, key, group, owner, labels: seriesLabels, value: 0, count: 0, bucketCounts };
      this.#add(series);
    }
    record(series, metric, operation);
    return true;
  }

  #redacted(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const entries = Object.entries(labels).map(
      ([name, value]) => [name, this.#options.redact(value)] as const,
    );
    return Object.fromEntries(entries);
  }

  /** The metric of that name, made if there is none; `undefined` when the name is taken by another type. */
  #metricFor(operation: SampleOperation): OwnedMetric | undefined {
    const { name, action } = operation;
    const type = TYPES[action];
    const existing = this.#metrics.get(name);
    if (existing !== undefined) return existing.type === type ? existing : undefined;
    if (this.#isTaken(name, type)) return undefined;
    const buckets = action === 'observe' ? operation.buckets : [];
    const metric: OwnedMetric = { name, type, buckets, series: new Map() };
    this.#metrics.set(name, metric);
    return metric;
  }

  /** A histogram also occupies the names of its parts. */
  #isTaken(name: string, type: Metric['type']): boolean {
    if (type === 'histogram' && HISTOGRAM_SUFFIXES.some((suffix) => this.#metrics.has(name + suffix)))
      return true;
    const suffix = HISTOGRAM_SUFFIXES.find((ending) => name.endsWith(ending));
    return suffix !== undefined && this.#metrics.get(name.slice(0, -suffix.length))?.type === 'histogram';
  }

  /** Registers a series with its metric, its group and its owner; {@link #remove} is the reverse. */
  #add(series: OwnedSeries): void {
    series.metric.series.set(series.key, series);
    const members = this.#groups.get(series.group) ?? new Set();
    this.#groups.set(series.group, members.add(series));
    this.#seriesOfOwner.set(series.owner, (this.#seriesOfOwner.get(series.owner) ?? 0) + 1);
  }

  #remove(series: OwnedSeries): void {
    const { metric, group, owner, key } = series;
    metric.series.delete(key);
    if (metric.series.size === 0) this.#metrics.delete(metric.name);
    const members = this.#groups.get(group);
    members?.delete(series);
    if (members?.size === 0) this.#groups.delete(group);
    const left = (this.#seriesOfOwner.get(owner) ?? 0) - 1;
    if (left > 0) this.#seriesOfOwner.set(owner, left);
    else this.#seriesOfOwner.delete(owner);
  }

  /** A hook's own group is apart from named ones, and from those of equally named hooks in other modules. */
  #groupOf(labels: HookLabels, { group }: MetricOperation): string {
    if (group === undefined) return `hook ${ownerOf(labels)}`;
    return this.#options.groups === 'hook' ? `group ${ownerOf(labels)} ${group}` : `group ${group}`;
  }

  /** Removing series of another hook is allowed, but seldom meant: one warning per hook. */
  #warnOfOthers(labels: HookLabels, group: string): void {
    const owner = ownerOf(labels);
    if (this.#warnedOwners.has(owner)) return;
    const other = [...(this.#groups.get(group) ?? [])].find((series) => series.owner !== owner);
    if (other === undefined) return;
    this.#warnedOwners.add(owner);
    this.#options.log.warn(
      { ...labels, metric: other.metric.name, ownerLabels: other.labels },
      'hook removes metric series of another hook, because both use a group with the same name; to separate them, set --hook-metric-groups hook',
    );
  }

  #expire(group: string): void {
    for (const series of this.#groups.get(group) ?? []) this.#remove(series);
  }
}

function record(series: OwnedSeries, metric: OwnedMetric, operation: SampleOperation): void {
  if (operation.action === 'set') {
    series.value = operation.value;
    return;
  }
  series.value += operation.value;
  if (operation.action === 'add') return;
  series.count += 1;
  // A negative value counts in `+Inf` only.
  const bucket = operation.value < 0 ? -1 : metric.buckets.findIndex((bound) => operation.value <= bound);
  if (bucket >= 0) series.bucketCounts[bucket] = (series.bucketCounts[bucket] ?? 0) + 1;
}

function ownerOf({ module, hook }: HookLabels): string {
  return JSON.stringify([module ?? '', hook]);
}

/** An empty label is the same as none; sorted, so that equal label sets have equal keys. */
function withoutEmpty(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(labels).filter(([, value]) => value !== '');
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
