import { expect, test } from 'vitest';
import { filterRetryDelayMs } from './unfiltered-objects.ts';

test.each([
  [1, 1_000],
  [2, 2_000],
  [9, 256_000],
  [10, 300_000],
  [5_000, 300_000],
])('filterRetryDelayMs() is at most the full pause, after %i failed attempts', (attempts, expected) => {
  expect(filterRetryDelayMs(attempts, () => 0)).toBe(expected);
  expect(filterRetryDelayMs(attempts, () => 1)).toBe(expected * 0.8);
});
