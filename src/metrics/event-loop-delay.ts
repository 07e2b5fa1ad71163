/** The delay of the event loop, measured by Node's own histogram, as two numbers and as a Prometheus histogram. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { roundedMs } from '@addon-operator/base/clock';
import type { Metric } from './exposition.ts';
import { EVENT_LOOP_DELAY } from './metric-table.ts';

/** How often delays are measured, in milliseconds. Each time wakes the process: at 50 ms that is half of what an idle daemon does. */
export const EVENT_LOOP_RESOLUTION_MS = 100;
const NS_PER_MS = 1_000_000;
const NS_PER_SECOND = 1_000_000_000;

/** The part of the histogram of Node that is read; durations in nanoseconds. */
export type DelayHistogram = Pick<ReturnType<typeof monitorEventLoopDelay>, 'count' | 'mean' | 'percentile'>;

/** Measures from now on, outside JavaScript, how late the event loop is; keeps no process alive. */
export function measureEventLoopDelay(): DelayHistogram {
  const histogram = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  histogram.enable();
  return histogram;
}

/** In milliseconds. */
export interface EventLoopDelay {
  readonly meanMs: number;
  readonly p99Ms: number;
}

/** The measurement so far, in two numbers. */
export function eventLoopDelay(histogram: DelayHistogram): EventLoopDelay {
  if (histogram.count === 0) return { meanMs: 0, p99Ms: 0 };
  const delayMs = (ns: number): number => Math.max(0, roundedMs(ns / NS_PER_MS - EVENT_LOOP_RESOLUTION_MS));
  return { meanMs: delayMs(histogram.mean), p99Ms: delayMs(histogram.percentile(99)) };
}

/** The measurement so far, as a histogram for Prometheus. */
export function eventLoopDelayMetric(prefix: string, histogram: DelayHistogram): Metric {
  const { name, help, buckets } = EVENT_LOOP_DELAY;
  const { count } = histogram;
  let below = 0;
  const bucketCounts = buckets.map((bound) => {
    const upTo = countUpTo(histogram, count, bound * NS_PER_SECOND + EVENT_LOOP_RESOLUTION_MS * NS_PER_MS);
    const inBucket = upTo - below;
    below = upTo;
    return inBucket;
  });
  const meanNs = count === 0 ? 0 : Math.max(0, histogram.mean - EVENT_LOOP_RESOLUTION_MS * NS_PER_MS);
  const series = { labels: {}, value: (meanNs * count) / NS_PER_SECOND, count, bucketCounts };
  return { name: prefix + name, help, type: 'histogram', buckets, series: new Map([['', series]]) };
}

/** Node returns values by percentile only, so the number of values up to a bound is found by search. */
function countUpTo(histogram: DelayHistogram, count: number, boundNs: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (histogram.percentile((100 * middle) / count) <= boundNs) low = middle;
    else high = middle - 1;
  }
  return low;
}
