import { expect, test } from 'vitest';
import { TimeZone } from './time-zone.ts';

const SUMMER_MS = Date.UTC(2026, 6, 1);

test.each([
  ['UTC', 0],
  ['Etc/UTC', 0],
  ['Europe/Berlin', 7_200_000],
  ['America/St_Johns', -9_000_000],
])('the clocks of %s differ from UTC by %i ms in summer', (name, offsetMs) => {
  expect(new TimeZone(name).offsetMs(SUMMER_MS)).toBe(offsetMs);
  expect(new TimeZone(name).spanFrom(SUMMER_MS)).toEqual({ offsetMs, endMs: expect.any(Number) });
});

test('spanFrom() ends where the clocks change', () => {
  const change = Date.UTC(2026, 9, 25, 1);
  expect(new TimeZone('Europe/Berlin').spanFrom(change - 1_000).endMs).toBe(change);
});

test('a zone that does not exist is refused', () => {
  expect(() => new TimeZone('Europe/Atlantis')).toThrow(RangeError);
});
