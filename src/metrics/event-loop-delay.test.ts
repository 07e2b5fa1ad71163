import { createHistogram } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { eventLoopDelayMetric } from './event-loop-delay.ts';
import { exposition } from './exposition.ts';

/** Milliseconds between two runs of the measuring timer, which is due every 100 ms. */
function afterIntervals(...intervalsMs: readonly number[]): string[] {
  const histogram = createHistogram();
  for (const intervalMs of intervalsMs) histogram.record(intervalMs * 1_000_000);
  const lines = exposition([eventLoopDelayMetric('ao_', histogram)]).split('\n');
  return lines.filter((line) => line !== '');
}

test('each delay beyond the interval of the timer falls into its bucket', () => {
  const lines = afterIntervals(100, 100, 100, 103, 160, 600, 9_100);
  expect(lines.slice(0, 2)).toEqual([
    '# HELP ao_event_loop_delay_seconds Delay of callbacks in the event loop of the daemon.',
    '# TYPE ao_event_loop_delay_seconds histogram',
  ]);
  const counts = lines.filter((line) => line.includes('_bucket')).map((line) => line.replace(/.*le=/, ''));
  expect(counts).toEqual([
    '"0.001"} 3',
    '"0.005"} 4',
    '"0.01"} 4',
    '"0.02"} 4',
    '"0.05"} 4',
    '"0.1"} 5',
    '"0.2"} 5',
    '"0.5"} 5',
    '"1"} 6',
    '"5"} 6',
    '"+Inf"} 7',
  ]);
  expect(lines.at(-1)).toBe('ao_event_loop_delay_seconds_count 7');
  const sum = Number(lines.find((line) => line.includes('_sum'))?.split(' ')[1]);
  expect(sum).toBeCloseTo(9.563, 1);
});

test('before anything is measured all is zero', () => {
  expect(afterIntervals().filter((line) => !line.startsWith('#') && !line.endsWith(' 0'))).toEqual([]);
});
