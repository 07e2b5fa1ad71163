import { expect, test } from 'vitest';
import type { UpdateWindow } from './spec-shapes.ts';
import { windowState } from './update-windows.ts';
import { isTimeZone } from './zone-time.ts';

const BERLIN = 'Europe/Berlin';
const NEW_YORK = 'America/New_York';
const workdays: UpdateWindow = { days: ['Mon', 'Tue'], from: '09:00', to: '16:00', timeZone: BERLIN };
const night: UpdateWindow = { from: '22:00', to: '04:00', timeZone: BERLIN };
const gap: UpdateWindow = { from: '02:30', to: '05:00', timeZone: BERLIN };

// Clocks in Berlin: forward on 2026-03-29 (01:00 UTC), back on 2026-10-25 (01:00 UTC); in New York on 03-08 and 11-01.
const CASES: readonly (readonly [string, readonly UpdateWindow[], string, string])[] = [
  ['no windows', [], '2026-06-01T00:00:00Z', 'open'],
  ['winter, before', [workdays], '2026-01-05T07:59:59Z', '2026-01-05T08:00:00.000Z'],
  ['winter, first moment', [workdays], '2026-01-05T08:00:00Z', 'open'],
  ['winter, last moment', [workdays], '2026-01-05T14:59:59Z', 'open'],
  ['winter, end', [workdays], '2026-01-05T15:00:00Z', '2026-01-06T08:00:00.000Z'],
  ['summer, an hour earlier in UTC', [workdays], '2026-07-06T07:00:00Z', 'open'],
  ['another day of the week', [workdays], '2026-07-08T10:00:00Z', '2026-07-13T07:00:00.000Z'],
  [
    'Monday in UTC, Tuesday there',
    [{ days: ['Tue'], from: '00:00', to: '01:00', timeZone: BERLIN }],
    '2026-01-05T23:30:00Z',
    'open',
  ],
  [
    'Sunday in UTC, Monday at the date line',
    [{ days: ['Mon'], from: '08:00', to: '09:00', timeZone: 'Pacific/Kiritimati' }],
    '2026-01-04T18:30:00Z',
    'open',
  ],
  ['past midnight, evening', [night], '2026-01-05T21:00:00Z', 'open'],
  ['past midnight, morning', [night], '2026-01-06T02:59:59Z', 'open'],
  ['past midnight, over', [night], '2026-01-06T03:00:00Z', '2026-01-06T21:00:00.000Z'],
  ['the morning belongs to the day before', [{ ...night, days: ['Mon'] }], '2026-01-06T02:00:00Z', 'open'],
  [
    'a morning whose evening is not a day of it',
    [{ ...night, days: ['Tue'] }],
    '2026-01-06T02:00:00Z',
    '2026-01-06T21:00:00.000Z',
  ],
  [
    'a whole day',
    [{ days: ['Sat'], from: '00:00', to: '24:00', timeZone: BERLIN }],
    '2026-03-28T22:59:59Z',
    'open',
  ],
  ['forward: 02:30 does not exist, 01:59', [gap], '2026-03-29T00:59:59Z', '2026-03-29T01:00:00.000Z'],
  ['forward: it begins at 03:00', [gap], '2026-03-29T01:00:00Z', 'open'],
  ['forward: it ends as ever', [gap], '2026-03-29T03:00:00Z', '2026-03-30T00:30:00.000Z'],
  [
    'forward: all of it is skipped',
    [{ from: '02:10', to: '02:50', timeZone: BERLIN }],
    '2026-03-29T00:30:00Z',
    '2026-03-30T00:10:00.000Z',
  ],
  [
    'forward: the end is skipped',
    [{ from: '01:00', to: '02:30', timeZone: BERLIN }],
    '2026-03-29T00:59:59Z',
    'open',
  ],
  [
    'forward: the end is the change',
    [{ from: '01:00', to: '02:30', timeZone: BERLIN }],
    '2026-03-29T01:00:00Z',
    '2026-03-29T23:00:00.000Z',
  ],
  ['back: the first 02:30', [gap], '2026-10-25T00:30:00Z', 'open'],
  ['back: 02:29 before it', [gap], '2026-10-25T00:29:59Z', '2026-10-25T00:30:00.000Z'],
  ['back: the second 02:00 is inside', [gap], '2026-10-25T01:00:00Z', 'open'],
  [
    'back: an end that comes twice is the last',
    [{ from: '01:00', to: '02:30', timeZone: BERLIN }],
    '2026-10-25T01:29:59Z',
    'open',
  ],
  [
    'back: after it',
    [{ from: '01:00', to: '02:30', timeZone: BERLIN }],
    '2026-10-25T01:30:00Z',
    '2026-10-26T00:00:00.000Z',
  ],
  [
    'forward in New York',
    [{ from: '02:30', to: '04:00', timeZone: NEW_YORK }],
    '2026-03-08T07:00:00Z',
    'open',
  ],
  [
    'back in New York, the second 01:30',
    [{ from: '01:30', to: '02:00', timeZone: NEW_YORK }],
    '2026-11-01T06:45:00Z',
    'open',
  ],
  [
    'half an hour: Lord Howe, forward',
    [{ from: '02:15', to: '03:00', timeZone: 'Australia/Lord_Howe' }],
    '2026-10-03T15:30:00Z',
    'open',
  ],
  [
    'a quarter: Kathmandu',
    [{ from: '09:00', to: '10:00', timeZone: 'Asia/Kathmandu' }],
    '2026-01-01T03:15:00Z',
    'open',
  ],
  ['the earlier of two', [workdays, night], '2026-01-05T04:00:00Z', '2026-01-05T08:00:00.000Z'],
  [
    'weekly, skipped this week',
    [{ days: ['Sun'], from: '02:10', to: '02:50', timeZone: BERLIN }],
    '2026-03-28T12:00:00Z',
    '2026-04-05T00:10:00.000Z',
  ],
  ['UTC by default', [{ from: '09:00', to: '10:00' }], '2026-07-01T09:30:00Z', 'open'],
];

test.each(CASES)('windowState(): %s', (_name, windows, now, expected) => {
  const state = windowState(windows, Date.parse(now));
  expect(state.isOpen ? 'open' : new Date(state.opensAtMs ?? Number.NaN).toISOString()).toBe(expected);
});

test('windowState() opens a window exactly at the moment that it announced', () => {
  let nowMs = Date.parse('2026-03-25T00:00:00Z');
  for (let index = 0; index < 30; index += 1) {
    const state = windowState([gap], nowMs);
    if (state.isOpen) {
      nowMs += 3_600_000;
      continue;
    }
    const opensAtMs = state.opensAtMs ?? Number.NaN;
    expect(windowState([gap], opensAtMs - 1)).toEqual(state);
    expect(windowState([gap], opensAtMs)).toEqual({ isOpen: true });
    nowMs = opensAtMs;
  }
});

test.each(['Europe/Berlin', 'UTC', 'Etc/GMT+3'])('isTimeZone() accepts %s', (zone) => {
  expect(isTimeZone(zone)).toBe(true);
});

test.each(['', 'Europe/Berln', '+01:00', 'Mars'])('isTimeZone() refuses "%s"', (zone) => {
  expect(isTimeZone(zone)).toBe(false);
});
