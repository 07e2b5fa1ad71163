import { expect, test } from 'vitest';
import { hookLimits } from './hook-limits.ts';

test('hookLimits() takes 0 for no limit', () => {
  expect(hookLimits({ hookTimeoutMs: 0, hookOutputLimitBytes: 0 })).toEqual({
    timeoutMs: undefined,
    maxOutputBytes: undefined,
  });
  expect(hookLimits({ hookTimeoutMs: 5_000, hookOutputLimitBytes: 64 })).toEqual({
    timeoutMs: 5_000,
    maxOutputBytes: 64,
  });
});
