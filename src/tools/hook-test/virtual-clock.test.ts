import { expect, test } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

const NEVER = new AbortController().signal;

test('time passes only by hand, and wakes who slept until then', async () => {
  const clock = new VirtualClock(1_000);
  const woken: string[] = [];
  const sleepers = [
    clock.sleep(20, NEVER).then(() => woken.push('b')),
    clock.sleep(10, NEVER).then(() => woken.push('a')),
  ];
  expect([clock.wallMs(), clock.steadyMs(), clock.nextMs]).toEqual([1_000, 0, 10]);
  clock.pass(10);
  await sleepers[1];
  expect([woken, clock.wallMs(), clock.steadyMs(), clock.nextMs]).toEqual([['a'], 1_010, 10, 10]);
  clock.pass(10);
  await Promise.all(sleepers);
  expect([woken, clock.nextMs]).toEqual([['a', 'b'], undefined]);
});

test('a sleep ends with its signal', async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const sleep = clock.sleep(10, stop.signal);
  stop.abort(new Error('over'));
  await expect(sleep).rejects.toThrow('over');
  await expect(clock.sleep(10, stop.signal)).rejects.toThrow('over');
  expect(clock.nextMs).toBeUndefined();
});
