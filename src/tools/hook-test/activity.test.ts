import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Activity } from './activity.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Whether it is quiet now, without waiting for it. */
async function isQuiet(activity: Activity): Promise<boolean> {
  let quiet = false;
  void activity.whenQuiet().then(() => (quiet = true));
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  return quiet;
}

test('all is quiet when nothing is under way', async () => {
  const activity = new Activity();
  expect(await isQuiet(activity)).toBe(true);
  const [first, second] = [activity.begin(), activity.begin()];
  expect(await isQuiet(activity)).toBe(false);
  first();
  first();
  expect(await isQuiet(activity)).toBe(false);
  second();
  expect(await isQuiet(activity)).toBe(true);
});

test('work that leads to more work is not quiet in between', async () => {
  const activity = new Activity();
  const log: string[] = [];
  const done = activity.begin();
  const quiet = activity.whenQuiet().then(() => log.push('quiet'));
  done();
  await setImmediate();
  const next = activity.begin();
  await setImmediate();
  log.push('next');
  next();
  await quiet;
  expect(log).toEqual(['next', 'quiet']);
});

test('work that sleeps is not under way', async () => {
  const activity = new Activity();
  const clock = new VirtualClock(0);
  const done = activity.begin();
  const sleep = activity.idleIn(clock).sleep(10, new AbortController().signal);
  expect(await isQuiet(activity)).toBe(true);
  clock.pass(10);
  await sleep;
  expect(await isQuiet(activity)).toBe(false);
  done();
  expect(await isQuiet(activity)).toBe(true);
});
