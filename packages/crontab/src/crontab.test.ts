import { hasCode } from '@addon-operator/base/errors';
import { describe, expect, test } from 'vitest';
import { parseCrontab, TimeZone } from './crontab.ts';

/** The next `count` times after `from`, written as ISO texts without milliseconds. */
function times(crontab: string, from: string, count: number, zone = 'UTC'): readonly (string | undefined)[] {
  const schedule = parseCrontab(crontab, zone);
  const found: (string | undefined)[] = [];
  let atMs: number | undefined = Date.parse(from);
  for (let index = 0; index < count && atMs !== undefined; index += 1) {
    atMs = schedule.next(atMs);
    found.push(atMs === undefined ? undefined : new Date(atMs).toISOString().replace('.000Z', 'Z'));
  }
  return found;
}

describe('parseCrontab() follows the dialect of hooks', () => {
  test.each([
    ['* * * * *', ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z']],
    ['*/20 * * * * *', ['2026-01-01T00:00:20Z', '2026-01-01T00:00:40Z', '2026-01-01T00:01:00Z']],
    [' 30\t4  * * * ', ['2026-01-01T04:30:00Z', '2026-01-02T04:30:00Z']],
    ['5/20 0 * * *', ['2026-01-01T00:05:00Z', '2026-01-01T00:25:00Z', '2026-01-01T00:45:00Z']],
    ['10-20/5 0 * * *', ['2026-01-01T00:10:00Z', '2026-01-01T00:15:00Z', '2026-01-01T00:20:00Z']],
    ['1,,2 0 * * *', ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z', '2026-01-02T00:01:00Z']],
    ['? ? ? ? ?', ['2026-01-01T00:01:00Z']],
    ['0 0 * FEB-mar Mon', ['2026-02-02T00:00:00Z', '2026-02-09T00:00:00Z']],
    ['0 0 1 */6 *', ['2026-07-01T00:00:00Z', '2027-01-01T00:00:00Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
    ['007 0 * * *', ['2026-01-01T00:07:00Z']],
  ])('%j', (crontab, expected) => {
    expect(times(crontab, '2026-01-01T00:00:00Z', expected.length)).toEqual(expected);
  });

  test.each([
    ['@yearly', '2027-01-01T00:00:00Z'],
    ['@annually', '2027-01-01T00:00:00Z'],
    ['@monthly', '2026-02-01T00:00:00Z'],
    ['@weekly', '2026-01-18T00:00:00Z'],
    ['@daily', '2026-01-15T00:00:00Z'],
    ['@midnight', '2026-01-15T00:00:00Z'],
    ['@hourly', '2026-01-14T13:00:00Z'],
  ])('%s is next at %s', (crontab, expected) => {
    expect(times(crontab, '2026-01-14T12:30:00Z', 1)).toEqual([expected]);
  });

  test.each([
    ['@every 5m', '2026-01-01T00:05:01Z'],
    ['@every 1h30m', '2026-01-01T01:30:01Z'],
    ['@every 1.9s', '2026-01-01T00:00:02Z'],
    ['@every 500ms', '2026-01-01T00:00:02Z'],
    ['@every -5m', '2026-01-01T00:00:02Z'],
    ['TZ=Asia/Tokyo @every 1m', '2026-01-01T00:01:01Z'],
  ])('%s counts from the whole second', (crontab, expected) => {
    expect(times(crontab, '2026-01-01T00:00:01.700Z', 1)).toEqual([expected]);
  });

  test.each([
    ['days of month or days of week', '0 0 1,15 * MON', ['01', '05', '12', '15', '19', '26']],
    ['with a star step both', '0 0 */2 * MON', ['05', '19']],
    ['a range with a step is no star', '0 0 1-31/2 * MON', ['01', '03', '05', '07', '09', '11', '12', '13']],
    ['a star among other items counts', '0 0 1,* * MON', ['05', '12', '19']],
  ])('day fields: %s', (_title, crontab, days) => {
    const expected = days.map((day) => `2026-01-${day}T00:00:00Z`);
    expect(times(crontab, '2025-12-31T12:00:00Z', days.length)).toEqual(expected);
  });

  test.each(['0 0 30 2 *', '0 0 31 4,6 *', ', * * * *', '0 0 , * ,'])(
    '%j is legal and never fires',
    (crontab) => {
      expect(times(crontab, '2026-01-01T00:00:00Z', 1)).toEqual([undefined]);
    },
  );

  test('what has no match within five years never fires', () => {
    expect(times('0 0 29 2 *', '2096-03-01T00:00:00Z', 1)).toEqual([undefined]);
  });

  test.each([
    ['', 'expected 5 or 6 fields, got 0'],
    ['* * *', 'expected 5 or 6 fields, got 3'],
    ['* * * * * * *', 'expected 5 or 6 fields, got 7'],
    ['0 0 * * 7', 'day of week "7" is not within 0-6'],
    ['60 * * * *', 'minute "60" is not within 0-59'],
    ['* * 0 * *', 'day of month "0" is not within 1-31'],
    ['10-5 * * * *', 'minute "10-5" ends before it begins'],
    ['*/0 * * * *', 'minute "*/0" has a step of 0'],
    ['1-2-3 * * * *', 'minute "1-2-3" has more than one hyphen'],
    ['*/2/2 * * * *', 'minute "*/2/2" has more than one step'],
    ['*/x * * * *', 'step of minute "*/x": "x" is not a number'],
    ['mon * * * *', 'minute: "mon" is not a number'],
    ['- * * * *', 'minute: "" is not a number'],
    ['H * * * *', 'minute: "H" is not a number'],
    ['0 0 L * *', 'day of month: "L" is not a number'],
    ['@reboot', 'unknown descriptor "@reboot"'],
    ['@Daily', 'unknown descriptor "@Daily"'],
    ['@daily ', 'unknown descriptor "@daily "'],
    ['@every 1d', '"1d" is not a duration'],
    ['@every ', '"" is not a duration'],
    ['CRON_TZ=UTC * * * * *', 'write "TZ=UTC" in place of "CRON_TZ=UTC"'],
    ['CRON_TZ=Europe/Berlin @daily', 'write "TZ=Europe/Berlin" in place of "CRON_TZ=Europe/Berlin"'],
    ['TZ=UTC', 'expected 5 or 6 fields, got 0'],
    ['TZ=Mars/Olympus * * * * *', 'unknown time zone "Mars/Olympus"'],
    ['TZ=+01:00 * * * * *', 'unknown time zone "+01:00"'],
    ['TZ= * * * * *', 'unknown time zone ""'],
  ])('%j is refused: %s', (crontab, problem) => {
    expect(() => parseCrontab(crontab, 'UTC')).toThrow(problem);
  });

  test('a refusal names the crontab and has a code', () => {
    expect(() => parseCrontab('x', 'UTC')).toThrow(
      expect.toSatisfy((error) => hasCode(error, 'SCHEDULE_INVALID') && error.message.includes('"x"')),
    );
  });
});

describe('parseCrontab() and time zones', () => {
  test('times are those of the local zone', () => {
    expect(times('0 9 * * *', '2026-01-01T00:00:00Z', 1, 'Asia/Tokyo')).toEqual(['2026-01-02T00:00:00Z']);
    expect(times('0 9 * * *', '2026-07-01T12:00:00Z', 1, 'Europe/Berlin')).toEqual(['2026-07-02T07:00:00Z']);
  });

  test('TZ= goes before the local zone', () => {
    expect(times('TZ=America/New_York 0 9 * * *', '2026-01-01T00:00:00Z', 1, 'Asia/Tokyo')).toEqual([
      '2026-01-01T14:00:00Z',
    ]);
    expect(times('TZ=UTC   @daily  ', '2026-01-01T00:00:00Z', 1, 'Asia/Tokyo')).toEqual([
      '2026-01-02T00:00:00Z',
    ]);
  });

  test('a local time that daylight saving skips does not fire', () => {
    expect(times('30 2 * * *', '2026-03-28T00:00:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-03-28T01:30:00Z',
      '2026-03-30T00:30:00Z',
      '2026-03-31T00:30:00Z',
    ]);
  });

  test('a local time that daylight saving repeats fires once', () => {
    expect(times('30 2 * * *', '2026-10-24T12:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
    // Asked in the middle of the repetition.
    expect(times('*/10 2 * * *', '2026-10-25T01:15:00Z', 1, 'Europe/Berlin')).toEqual([
      '2026-10-26T01:00:00Z',
    ]);
  });

  test('what runs every hour goes on through both changes', () => {
    expect(times('30 * * * *', '2026-10-24T23:40:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-25T02:30:00Z',
    ]);
    expect(times('30 * * * *', '2026-03-29T00:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:30:00Z',
    ]);
  });

  test('a zone that suspends daylight saving for a month is followed', () => {
    // Morocco: UTC+1, but UTC during Ramadan (2026-02-15 to 2026-03-22).
    expect(times('0 12 1 1-4 *', '2026-01-15T00:00:00Z', 3, 'Africa/Casablanca')).toEqual([
      '2026-02-01T11:00:00Z',
      '2026-03-01T12:00:00Z',
      '2026-04-01T11:00:00Z',
    ]);
  });
});

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
