import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { brokenDown, secondsOf } from './calendar.ts';

/** Some years short of what `Date` of JavaScript knows, in seconds. */
const MAX_SECONDS = 8_600_000_000_000;
const MS_PER_DAY = 86_400_000;

test('brokenDown() gives the fields of Date, far into the past and the future', () => {
  fc.assert(
    fc.property(fc.integer({ min: -MAX_SECONDS, max: MAX_SECONDS }), (seconds) => {
      const date = new Date(seconds * 1000);
      const newYear = new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
      expect(brokenDown(seconds)).toEqual({
        year: date.getUTCFullYear(),
        month: date.getUTCMonth(),
        day: date.getUTCDate(),
        hours: date.getUTCHours(),
        minutes: date.getUTCMinutes(),
        seconds: date.getUTCSeconds(),
        weekday: date.getUTCDay(),
        yearday: Math.floor((date.getTime() - newYear) / MS_PER_DAY),
      });
      expect(secondsOf(brokenDown(seconds))).toBe(seconds);
    }),
  );
});

test('secondsOf() carries fields beyond their range over, as Date does', () => {
  const field = fc.integer({ min: -100_000, max: 100_000 });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 9999 }), field, field, field, (year, month, day, hours) => {
      const time = { year, month, day, hours, minutes: 0, seconds: 0 };
      expect(secondsOf(time)).toBe(Date.UTC(year, month, day, hours) / 1000);
    }),
  );
});
