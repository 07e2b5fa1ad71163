import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstLocalMatch, parseCronFields } from './cron-fields.ts';

const MINUTE_MS = 60_000;
const DAYS_MS = 3 * 86_400_000;

test('firstLocalMatch() finds the first minute that the fields allow, and none before', () => {
  const item = (max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: 0, max }).map(String),
      fc.integer({ min: 1, max }).map((step) => `*/${step}`),
    );
  const fromMs = fc.integer({ min: 0, max: 60_000_000 }).map((minutes) => minutes * MINUTE_MS);
  fc.assert(
    fc.property(item(59), item(23), item(6), fromMs, (minute, hour, dayOfWeek, fromMs) => {
      const fields = parseCronFields(`${minute} ${hour} * * ${dayOfWeek}`);
      const endMs = fromMs + DAYS_MS;
      let expected: number | undefined;
      for (let atMs = fromMs; atMs < endMs && expected === undefined; atMs += MINUTE_MS) {
        const at = new Date(atMs);
        const isAllowed =
          fields.minutes.has(at.getUTCMinutes()) &&
          fields.hours.has(at.getUTCHours()) &&
          fields.daysOfWeek.has(at.getUTCDay());
        if (isAllowed) expected = atMs;
      }
      expect(firstLocalMatch(fields, fromMs, endMs)).toBe(expected);
    }),
  );
});

test('firstLocalMatch() rounds up to a whole second', () => {
  const fields = parseCronFields('*/5 * * * * *');
  expect(firstLocalMatch(fields, 4_001, 60_000)).toBe(5_000);
  expect(firstLocalMatch(fields, 5_000, 60_000)).toBe(5_000);
  expect(firstLocalMatch(fields, 5_001, 60_000)).toBe(10_000);
});

test('firstLocalMatch() does not reach the end', () => {
  const fields = parseCronFields('0 1 * * *');
  expect(firstLocalMatch(fields, 0, 3_600_000)).toBeUndefined();
  expect(firstLocalMatch(fields, 0, 3_600_001)).toBe(3_600_000);
});
