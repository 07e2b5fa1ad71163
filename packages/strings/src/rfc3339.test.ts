import { afterEach, expect, test } from 'vitest';
import { rfc3339 } from './rfc3339.ts';

const zoneBefore = process.env['TZ'];

afterEach(() => {
  if (zoneBefore === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zoneBefore;
});

test.each([
  ['UTC', '2026-01-02T03:04:05Z'],
  ['Europe/Berlin', '2026-01-02T04:04:05+01:00'],
  ['America/St_Johns', '2026-01-01T23:34:05-03:30'],
])('rfc3339() writes the time of %s with its offset', (zone, text) => {
  process.env['TZ'] = zone;
  expect(rfc3339(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe(text);
});
