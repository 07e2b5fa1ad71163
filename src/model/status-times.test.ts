import { expect, test } from 'vitest';
import { StatusTimes } from './status-times.ts';

test('a status begins when it is first observed, and again after another one', () => {
  const times = new StatusTimes();
  const at = (status: 'ready' | 'failing', ms: number): number => times.since('web', status, () => ms);
  expect([at('ready', 1), at('ready', 2), at('failing', 3), at('failing', 4), at('ready', 5)]).toEqual([
    1, 1, 3, 3, 5,
  ]);
  expect(times.since('db', 'ready', () => 9)).toBe(9);
});
