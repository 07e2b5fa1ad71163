import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { ReviewCache } from './review-cache.ts';

const reviewed = (value: number, ttlMs = 10_000) => ({ value, ttlMs });

test('a result is used until its time is over, counted from the request', async () => {
  const clock = new FakeClock();
  const cache = new ReviewCache<number>(clock, 10);
  let calls = 0;
  const look = () => cache.get('a', async () => reviewed((calls += 1)));
  expect(await look()).toBe(1);
  await clock.advance(9_999);
  expect(await look()).toBe(1);
  await clock.advance(1);
  expect(await look()).toBe(2);
});

test('a result without time left is not used again', async () => {
  const cache = new ReviewCache<number>(new FakeClock(), 10);
  let calls = 0;
  const look = () => cache.get('a', async () => reviewed((calls += 1), -5));
  expect([await look(), await look()]).toEqual([1, 2]);
});

test('callers at the same time share one request, and its failure is forgotten', async () => {
  const clock = new FakeClock();
  const cache = new ReviewCache<number>(clock, 10);
  const { promise, reject } = Promise.withResolvers<{ value: number; ttlMs: number }>();
  let calls = 0;
  const look = () =>
    cache.get('a', () => {
      calls += 1;
      return promise;
    });
  const both = [look(), look()];
  await clock.advance(60_000);
  both.push(look());
  reject(new Error('away'));
  for (const one of both) await expect(one).rejects.toThrow('away');
  expect(calls).toBe(1);
  expect(await cache.get('a', async () => reviewed(7))).toBe(7);
});

test('a response that comes late is only used for the rest of its time', async () => {
  const clock = new FakeClock();
  const cache = new ReviewCache<number>(clock, 10);
  const { promise, resolve } = Promise.withResolvers<{ value: number; ttlMs: number }>();
  const first = cache.get('a', () => promise);
  await clock.advance(8_000);
  resolve(reviewed(1));
  expect(await first).toBe(1);
  await clock.advance(2_000);
  expect(await cache.get('a', async () => reviewed(2))).toBe(2);
});

test('the oldest results are forgotten first, so memory is bounded', async () => {
  const cache = new ReviewCache<number>(new FakeClock(), 3);
  for (let key = 0; key < 100; key += 1) await cache.get(`${key}`, async () => reviewed(key));
  expect(cache.size).toBe(3);
  expect(await cache.get('99', async () => reviewed(-1))).toBe(99);
  expect(await cache.get('0', async () => reviewed(-1))).toBe(-1);
});
