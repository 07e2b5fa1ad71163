import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { refusal } from '../../../test/support/fake-kube-api.ts';
import { reconnectDelayMs, reconnectPause, untilDone } from './retry.ts';

const deps = { clock: new FakeClock(), random: () => 0 };

test('untilDone() tries again, later and later, until it succeeds', async () => {
  const clock = new FakeClock();
  const outcomes = ['first', 'second'];
  const reported: unknown[] = [];
  const done = untilDone(
    async () => {
      const failure = outcomes.shift();
      if (failure !== undefined) throw new Error(failure);
      return 'done';
    },
    (error, delayMs) => reported.push([(error as Error).message, delayMs]),
    { clock, random: () => 0 },
    new AbortController().signal,
  );
  await clock.untilAsleep();
  await clock.advance(800);
  await clock.untilAsleep();
  await clock.advance(1_600);

  await expect(done).resolves.toBe('done');
  expect(reported).toEqual([
    ['first', 800],
    ['second', 1_600],
  ]);
});

test('untilDone() rejects with the error that the failure handler throws', async () => {
  const attempt = async (): Promise<void> => {
    throw new Error('not to be repeated');
  };
  const onFailure = (error: unknown): void => {
    throw error;
  };

  await expect(untilDone(attempt, onFailure, deps, new AbortController().signal)).rejects.toThrow(
    'not to be repeated',
  );
});

test('untilDone() ends with the reason of the abort, and reports no failure then', async () => {
  const stop = new AbortController();
  const reported: unknown[] = [];
  const attempt = async (): Promise<void> => {
    stop.abort(new Error('stopped'));
    throw new Error('in the middle');
  };

  await expect(untilDone(attempt, (error) => reported.push(error), deps, stop.signal)).rejects.toThrow(
    'stopped',
  );
  expect(reported).toEqual([]);
});

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

test('reconnectDelayMs() is never shorter than the server requested', () => {
  expect(reconnectDelayMs(1, 20, () => 0)).toBe(20_000);
  expect(reconnectDelayMs(1, 20, () => 1)).toBe(24_000);
  expect(reconnectDelayMs(7, 1, () => 0)).toBe(30_000);
});

test.each([
  [503, '', 3_600, 30_000],
  [503, 'ServiceUnavailable', 999_999, 30_000],
  [429, '', 45, 30_000],
  [429, 'TooManyRequests', 45, 45_000],
  [429, 'TooManyRequests', Number.POSITIVE_INFINITY, 60_000],
])(
  'FAULT-A11: reconnectPause() after %i %j with Retry-After %d is %i ms, at most that with jitter',
  (status, reason, seconds, expected) => {
    expect(reconnectPause(1, refusal(status, reason, seconds), () => 0).delayMs).toBe(expected);
    const limitMs = reason === 'TooManyRequests' ? 60_000 : 30_000;
    expect(reconnectPause(1, refusal(status, reason, seconds), () => 1).delayMs).toBeLessThanOrEqual(limitMs);
  },
);

test.each([
  [1, undefined, 800],
  [1, 1, 1_000],
  [1, 25, 5_000],
  [5, 25, 12_800],
])(
  'reconnectPause() after %i failures and Retry-After %d lasts %i ms at least, if other requests succeed',
  (failures, seconds, expected) => {
    expect(reconnectPause(failures, refusal(503, '', seconds), () => 0).minimumMs).toBe(expected);
  },
);
