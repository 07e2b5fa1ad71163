import { expect, test } from 'vitest';
import { type HealStreak, nextHealAtMs, withHeal } from './heal-pace.ts';

const MINUTE_MS = 60_000;

test('an object is healed three times at once, then after 1, 2, 4 minutes, at most an hour', () => {
  let streak: HealStreak | undefined;
  let nowMs = 1_000;
  const delays: number[] = [];
  for (let heal = 0; heal < 11; heal += 1) {
    const atMs = Math.max(nowMs, nextHealAtMs(streak));
    delays.push((atMs - nowMs) / MINUTE_MS);
    nowMs = atMs;
    streak = withHeal(streak, nowMs);
  }
  expect(delays).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('ten minutes of peace end a streak, counted from when it could have been healed again', () => {
  const streak = { heals: 3, lastAtMs: 0 };
  expect(withHeal(streak, 11 * MINUTE_MS - 1).heals).toBe(4);
  expect(withHeal(streak, 11 * MINUTE_MS).heals).toBe(1);
});
