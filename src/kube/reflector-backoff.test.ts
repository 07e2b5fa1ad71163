import { expect, test } from 'vitest';
import { reconnectDelayMs } from './reflector-backoff.ts';

test.each([
  [1, 800],
  [2, 1_600],
  [5, 12_800],
  [6, 25_600],
  [7, 30_000],
  [5_000, 30_000],
])('reconnectDelayMs() after %i failures is at most %i ms', (failures, expected) => {
  expect(reconnectDelayMs(failures, undefined, () => 0)).toBe(expected);
  expect(reconnectDelayMs(failures, undefined, () => 1)).toBeCloseTo(expected * 0.8);
});

test('reconnectDelayMs() is never shorter than the server asked for', () => {
  expect(reconnectDelayMs(1, 20, () => 0)).toBe(20_000);
  expect(reconnectDelayMs(1, 20, () => 1)).toBe(24_000);
  expect(reconnectDelayMs(7, 1, () => 0)).toBe(30_000);
});
