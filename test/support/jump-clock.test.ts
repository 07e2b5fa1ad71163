import { systemClock } from '@addon-operator/base/clock';
import { expect, test, vi } from 'vitest';
import { JumpClock } from './jump-clock.ts';

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;

test('passSleep() twice in a row passes two sleeps', async () => {
  const clock = new JumpClock();
  const woken: number[] = [];
  const sleepTwice = async (): Promise<void> => {
    for (let nap = 1; nap <= 2; nap += 1) {
      await clock.sleep(HOUR_MS, never);
      woken.push(nap);
    }
  };
  const slept = sleepTwice();
  await clock.passSleep(HOUR_MS);
  await clock.passSleep(HOUR_MS);
  await slept;
  expect(woken).toEqual([1, 2]);
});

test('passSleep() wakes every sleeper that set out for that time', async () => {
  const clock = new JumpClock();
  const sleeps = [clock.sleep(HOUR_MS, never), clock.sleep(HOUR_MS, never)];
  await clock.passSleep(HOUR_MS);
  await expect(Promise.all(sleeps)).resolves.toHaveLength(2);
});

test('wakeSleeps() ends the sleeps of that length alone, shorter ones go on', async () => {
  const clock = new JumpClock();
  const end = new AbortController();
  const shorter = clock.sleep(HOUR_MS / 2, end.signal);
  const sleep = clock.sleep(HOUR_MS, never);
  clock.wakeSleeps(HOUR_MS);
  await sleep;
  end.abort('enough');
  await expect(shorter).rejects.toBe('enough');
});

test('a sleep of 5 s or more lasts longer without a jump', async () => {
  const clock = new JumpClock();
  const sleep = vi.spyOn(systemClock, 'sleep');
  try {
    const sleeps = [4_999, 5_000, HOUR_MS].map(async (ms) => await clock.sleep(ms, never));
    clock.jump(HOUR_MS);
    await Promise.all(sleeps);
    expect(sleep.mock.calls.map(([ms]) => ms)).toEqual([4_999, 30_000, HOUR_MS]);
  } finally {
    sleep.mockRestore();
  }
});
