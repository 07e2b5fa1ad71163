import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { RateLimiter } from './rate-limiter.ts';

const never = new AbortController().signal;

/** Takes `count` tokens one after another and notes when each came. */
function takeAll(limiter: RateLimiter, clock: FakeClock, count: number): number[] {
  const times: number[] = [];
  void (async () => {
    for (let taken = 0; taken < count; taken += 1) {
      await limiter.take(never);
      times.push(clock.steadyMs());
    }
  })();
  return times;
}

test('take() gives the saved tokens at once, then one an interval', async () => {
  const clock = new FakeClock(0, 1_000);
  const times = takeAll(new RateLimiter({ minIntervalMs: 3_000, burst: 2 }, clock), clock, 5);
  await settle();
  expect(times).toEqual([1_000, 1_000]);
  await clock.advance(2_999);
  expect(times).toHaveLength(2);
  await clock.advance(10_000);
  expect(times).toEqual([1_000, 1_000, 4_000, 7_000, 10_000]);
});

test('take() never has more than the burst saved up', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ minIntervalMs: 1_000, burst: 3 }, clock);
  await clock.advance(3_600_000);
  const times = takeAll(limiter, clock, 4);
  await settle();
  expect(times).toHaveLength(3);
  await clock.advance(1_000);
  expect(times).toHaveLength(4);
});

test('take() serves several queues one after another', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ minIntervalMs: 1_000, burst: 1 }, clock);
  const [first, second] = [takeAll(limiter, clock, 2), takeAll(limiter, clock, 2)];
  await settle();
  await clock.advance(10_000);
  expect([...first, ...second].toSorted((a, b) => a - b)).toEqual([0, 1_000, 2_000, 3_000]);
});

test('take() that is given up costs no token', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ minIntervalMs: 1_000, burst: 1 }, clock);
  await limiter.take(never);
  const abort = new AbortController();
  const given = Array.from({ length: 10 }, () => limiter.take(abort.signal).catch(() => 'given up'));
  abort.abort();
  await Promise.all(given);
  const times = takeAll(limiter, clock, 1);
  await clock.advance(1_000);
  expect(times).toEqual([1_000]);
});

test('take() ends with the reason of the signal', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ minIntervalMs: 1_000, burst: 1 }, clock);
  const abort = new AbortController();
  await limiter.take(abort.signal);
  const waiting = limiter.take(abort.signal);
  abort.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('take() waits no longer, when the wall clock is set back', async () => {
  const clock = new FakeClock(7_200_000);
  const limiter = new RateLimiter({ minIntervalMs: 1_000, burst: 1 }, clock);
  await limiter.take(never);
  clock.setWall(-3_600_000);
  void limiter.take(never);
  await settle();
  expect(clock.pendingDelaysMs).toEqual([1_000]);
});
