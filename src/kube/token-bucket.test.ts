import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

const never = new AbortController().signal;

test('TokenBucket lets a burst pass at once and then one request per interval, in order', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ qps: 5, burst: 2, clock });
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
  const bucket = new TokenBucket({ qps: 5, burst: 2, clock });
  await clock.advance(60_000);
  await bucket.take(never);
  await bucket.take(never);
  void bucket.take(never);
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([200]);
});

test('TokenBucket gives back the token of a caller that gave up', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ qps: 5, burst: 1, clock });
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

test('TokenBucket without a rate lets everything pass', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ qps: 0, burst: 1, clock });
  for (let request = 0; request < 100; request += 1) await bucket.take(never);
  expect(clock.steadyMs()).toBe(0);
});
