import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

const never = new AbortController().signal;

/** Takes `count` tokens one after another and notes when each came. */
function takeAll(limiter: TokenBucket, clock: FakeClock, count: number): number[] {
  const times: number[] = [];
  void (async () => {
    for (let taken = 0; taken < count; taken += 1) {
      await limiter.take(never);
      times.push(clock.steadyMs());
    }
  })();
  return times;
}

test('take() returns saved tokens at once, then one per interval', async () => {
  const clock = new FakeClock(0, 1_000);
  const times = takeAll(new TokenBucket({ intervalMs: 3_000, burst: 2 }, clock), clock, 5);
  await settle();
  expect(times).toEqual([1_000, 1_000]);
  await clock.advance(2_999);
  expect(times).toHaveLength(2);
  await clock.advance(10_000);
  expect(times).toEqual([1_000, 1_000, 4_000, 7_000, 10_000]);
});

test('take() never saves more tokens than the burst', async () => {
  const clock = new FakeClock();
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 3 }, clock);
  await clock.advance(3_600_000);
  const times = takeAll(limiter, clock, 4);
  await settle();
  expect(times).toHaveLength(3);
  await clock.advance(1_000);
  expect(times).toHaveLength(4);
});

test('take() serves several queues one after another', async () => {
  const clock = new FakeClock();
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
  const [first, second] = [takeAll(limiter, clock, 2), takeAll(limiter, clock, 2)];
  await settle();
  await clock.advance(10_000);
  expect([...first, ...second].toSorted((a, b) => a - b)).toEqual([0, 1_000, 2_000, 3_000]);
});

test('take() costs no token when it is aborted', async () => {
  const clock = new FakeClock();
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
  await limiter.take(never);
  const abort = new AbortController();
  const given = Array.from({ length: 10 }, () => limiter.take(abort.signal).catch(() => 'given up'));
  abort.abort();
  await Promise.all(given);
  const times = takeAll(limiter, clock, 1);
  await clock.advance(1_000);
  expect(times).toEqual([1_000]);
});

test('take() rejects with the reason of the signal', async () => {
  const clock = new FakeClock();
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
  const abort = new AbortController();
  await limiter.take(abort.signal);
  const waiting = limiter.take(abort.signal);
  abort.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('take() waits no longer, when the wall clock is set back', async () => {
  const clock = new FakeClock(7_200_000);
  const limiter = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
  await limiter.take(never);
  clock.setWall(-3_600_000);
  void limiter.take(never);
  await settle();
  expect(clock.pendingDelaysMs).toEqual([1_000]);
});

test('TokenBucket lets a burst pass at once and then one request per interval, in order', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ intervalMs: 200, burst: 2 }, clock);
  const passed: number[] = [];
  for (const id of [1, 2, 3, 4]) void bucket.take(never).then(() => passed.push(id));
  await clock.advance(0);
  expect(passed).toEqual([1, 2]);
  await clock.advance(199);
  expect(passed).toEqual([1, 2]);
  await clock.advance(1);
  expect(passed).toEqual([1, 2, 3]);
  await clock.advance(200);
  expect(passed).toEqual([1, 2, 3, 4]);
});

test('TokenBucket saves up no more than the burst', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ intervalMs: 200, burst: 2 }, clock);
  await clock.advance(60_000);
  await bucket.take(never);
  await bucket.take(never);
  void bucket.take(never);
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([200]);
});

test('take() returns the token of a caller that aborted, or was aborted before', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ intervalMs: 200, burst: 1 }, clock);
  await bucket.take(never);
  const controller = new AbortController();
  const waiting = bucket.take(controller.signal);
  controller.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  await expect(bucket.take(controller.signal)).rejects.toThrow('stop');
  void bucket.take(never);
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([200]);
});

test('take() never waits without an interval', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ intervalMs: 0, burst: 1 }, clock);
  for (let request = 0; request < 100; request += 1) await bucket.take(never);
  expect(clock.steadyMs()).toBe(0);
});

test('tryTake() takes the burst, then one token per interval, and never waits', async () => {
  const clock = new FakeClock(0, 500);
  const bucket = new TokenBucket({ intervalMs: 1_000, burst: 2 }, clock);
  const taken = (): boolean[] => [bucket.tryTake(), bucket.tryTake(), bucket.tryTake()];
  expect(taken()).toEqual([true, true, false]);
  await clock.advance(999);
  expect(bucket.tryTake()).toBe(false);
  await clock.advance(1);
  expect(taken()).toEqual([true, false, false]);
  await clock.advance(3_600_000);
  expect(taken()).toEqual([true, true, false]);
  expect(clock.pendingDelaysMs).toEqual([]);
});
