import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { sleepOrWake, Wakeup } from './wakeup.ts';

const never = new AbortController().signal;

test('a sleep ends when its time is over', async () => {
  const clock = new FakeClock();
  const slept = sleepOrWake(clock, 1_000, new Wakeup().next, never);
  await clock.advance(1_000);
  expect(await slept).toBe('slept');
});

test('a sleep ends when it is woken, also by a change before it began', async () => {
  const clock = new FakeClock();
  const wakeup = new Wakeup();
  const { next } = wakeup;
  wakeup.wake();
  expect(await sleepOrWake(clock, 1_000, next, never)).toBe('woken');
  const again = sleepOrWake(clock, 1_000, wakeup.next, never);
  wakeup.wake();
  expect(await again).toBe('woken');
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a sleep rejects with the reason of the abort', async () => {
  const stop = new AbortController();
  const slept = sleepOrWake(new FakeClock(), 1_000, new Wakeup().next, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(slept).rejects.toThrow('stopped');
});
