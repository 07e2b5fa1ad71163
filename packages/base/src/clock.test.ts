import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { every, roundedMs, systemClock, wallTimeOf } from './clock.ts';

/** A process for which the machine was suspended for 1000 s since its boot. */
const SUSPENDED = [
  '-T',
  '--boottime',
  '1000',
  process.execPath,
  '--no-warnings',
  '--input-type=module',
  '-e',
];
const canSuspend = spawnSync('unshare', ['-T', '--boottime', '1000', 'true']).status === 0;

test('the steady clock never goes back', () => {
  const times = Array.from({ length: 1_000 }, () => systemClock.steadyMs());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test.skipIf(!canSuspend)('the steady clock counts the time for which the machine was suspended', () => {
  const file = join(import.meta.dirname, 'clock.ts');
  const script = `import { systemClock } from ${JSON.stringify(file)}; console.log(systemClock.steadyMs());`;
  const before = systemClock.steadyMs();
  const seen = Number(spawnSync('unshare', [...SUSPENDED, script]).stdout.toString());
  expect(seen - before).toBeGreaterThan(999_000);
  expect(seen - systemClock.steadyMs()).toBeLessThan(1_000_100);
});

test('a sleep of less than nothing ends at once and without a warning of Node', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error): void => void warnings.push(warning);
  process.on('warning', keep);
  try {
    await systemClock.sleep(-5, new AbortController().signal);
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', keep);
  }
});

test('a sleep ends with the reason of the signal, at once or while it lasts', async () => {
  const reason = new Error('enough');
  await expect(systemClock.sleep(1_000_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const sleeping = systemClock.sleep(1_000_000, controller.signal);
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});

test('wallTimeOf() is the wall time of a steady moment, when the wall clock is set in between', async () => {
  const clock = new FakeClock(1_000_000);
  const sinceMs = clock.steadyMs();
  await clock.advance(5_000);
  expect(wallTimeOf(sinceMs, clock)).toBe(1_000_000);
  clock.setWall(-1_000);
  expect(wallTimeOf(sinceMs + 6_000, clock)).toBe(1_005_000);
});

test('a sleep leaves nothing at its signal', async () => {
  const { signal } = new AbortController();
  await systemClock.sleep(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([
  [113.25404000002891, 113.3],
  [0.04, 0],
  [12, 12],
])('roundedMs(%d) is %d', (ms, rounded) => {
  expect(roundedMs(ms)).toBe(rounded);
});

test('every() waits before each call, and ends with the reason of the stop', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let calls = 0;
  const ended = every(clock, 100, () => void (calls += 1), stop.signal);
  await settle();
  expect(calls).toBe(0);
  for (const expected of [1, 2]) {
    await clock.advance(100);
    await settle();
    expect(calls).toBe(expected);
  }
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(ended).rejects.toBe(reason);
});
