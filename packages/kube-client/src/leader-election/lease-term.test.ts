import { expect, test } from 'vitest';
import { leaseTerm } from './lease-term.ts';

test('leaseTerm() leaves time for an orderly end, for TERM and for KILL before another may start', () => {
  const times = { durationMs: 35_000, renewDeadlineMs: 30_000, retryPeriodMs: 10_000 };
  expect(leaseTerm(times, 1_000)).toEqual({
    stopAtMs: 31_000,
    termAtMs: 32_000,
    killAtMs: 35_000,
    expiresAtMs: 36_000,
  });
});
