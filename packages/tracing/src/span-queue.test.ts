import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { SpanQueue } from './span-queue.ts';

const FLUSH_MS = 5_000;
const SPAN = { spanContext: () => ({ traceFlags: 1 }) } as ReadableSpan;

/** A queue whose collector takes every request and never answers. */
function hanging(maxQueueSize: number) {
  const clock = new FakeClock();
  const lost: { readonly count: number; readonly reason: string }[] = [];
  const batches: number[] = [];
  const queue = new SpanQueue({
    sink: {
      export: (spans) => void batches.push(spans.length),
      shutdown: () => new Promise(() => undefined),
    },
    clock,
    maxQueueSize,
    maxBatchSize: 2,
    delayMs: 1_000,
    flushMs: FLUSH_MS,
    onDropped: (count, reason) => lost.push({ count, reason }),
  });
  return { clock, lost, batches, queue };
}

test('a collector that hangs gets one request, and spans that find the queue full are only counted', () => {
  const { lost, batches, queue } = hanging(3);
  for (let count = 0; count < 10; count += 1) queue.onEnd(SPAN);
  expect(batches).toEqual([2]);
  expect(lost).toEqual(Array.from({ length: 5 }, () => ({ count: 1, reason: 'too many spans wait' })));
});

test('a collector that hangs delays the stop by the limit for the last spans, and no longer', async () => {
  const { clock, lost, queue } = hanging(100);
  for (let count = 0; count < 5; count += 1) queue.onEnd(SPAN);
  let isStopped = false;
  const stopped = queue.shutdown().then(() => {
    isStopped = true;
  });
  await clock.advance(FLUSH_MS - 1);
  expect(isStopped).toBe(false);
  await clock.advance(1);
  await stopped;
  expect(lost).toEqual([{ count: 3, reason: 'the program stops' }]);
});

test('a collector that refuses for ever gets one request at a time, and no more than the queue waits for it', async () => {
  const lost: number[] = [];
  const batches: number[] = [];
  const underWay: (() => void)[] = [];
  const queue = new SpanQueue({
    sink: {
      export: (spans, onResult) => {
        batches.push(spans.length);
        underWay.push(() => onResult({ code: 1, error: new Error('429 too many requests') }));
      },
      shutdown: () => Promise.resolve(),
    },
    clock: new FakeClock(),
    maxQueueSize: 4,
    maxBatchSize: 2,
    delayMs: 1_000,
    flushMs: FLUSH_MS,
    onDropped: (count) => lost.push(count),
  });
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  const SPANS = 1_000;
  for (let count = 1; count <= SPANS; count += 1) {
    queue.onEnd(SPAN);
    // Never more than the batch that is under way and those that wait.
    expect(count - sum(lost)).toBeLessThanOrEqual(6);
    expect(underWay.length).toBeLessThanOrEqual(1);
    if (count % 10 === 0) underWay.shift()?.();
  }
  while (underWay.length > 0) underWay.shift()?.();
  expect(sum(lost)).toBe(SPANS);
  expect(Math.max(...batches)).toBe(2);
  // A refused batch is not sent again.
  expect(batches.length).toBeLessThanOrEqual(SPANS / 10 + 3);
});
