import { type BrokenDownTime, brokenDown, secondsOf, weekdayOf, yeardayOf } from './calendar.ts';
import { MONTHS, WEEKDAYS } from './time-format.ts';

/** The fields that were read so far; absent ones were not in the string. */
interface Fields {
  year?: number;
  century?: number;
  month?: number;
  day?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
  isAfternoon?: boolean;
  weekday?: number;
  yearday?: number;
  epoch?: number;
}

export interface ParsedTime {
  readonly time: BrokenDownTime;
  /** The rest of the string behind the time, from a blank on. */
  readonly rest: string;
}

/** Values that glibc leaves in the fields if it cannot compute the day of the week or of the year. */
const UNKNOWN_WEEKDAY = 8;
const UNKNOWN_YEARDAY = 367;

interface Conversion {
  readonly pattern: RegExp;
  /** Stores what was read; false if it is out of range. */
  readonly store: (fields: Fields, text: string) => boolean;
}

const day = number(2, 1, 31, (fields, value) => (fields.day = value));
const hours = number(2, 0, 23, (fields, value) => (fields.hours = value));
const halfDayHours = number(2, 1, 12, (fields, value) => (fields.hours = value % 12));
const month = name(MONTHS, (fields, value) => (fields.month = value));
const weekday = name(WEEKDAYS, (fields, value) => (fields.weekday = value));
const week = number(2, 0, 53, () => undefined);

/** How each conversion of strptime is read. */
const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  A: weekday,
  B: month,
  C: number(2, 0, 99, (fields, value) => (fields.century = value)),
  G: number(4, 0, 9999, () => undefined),
  H: hours,
  I: halfDayHours,
  M: number(2, 0, 59, (fields, value) => (fields.minutes = value)),
  S: number(2, 0, 61, (fields, value) => (fields.seconds = value)),
  U: week,
  V: week,
  W: week,
  Y: number(4, 0, 9999, (fields, value) => (fields.year = value)),
  Z: ignored(/\s*[^\s]*/y),
  a: weekday,
  b: month,
  d: day,
  e: day,
  g: number(2, 0, 99, () => undefined),
  h: month,
  j: number(3, 1, 366, (fields, value) => (fields.yearday = value - 1)),
  k: hours,
  l: halfDayHours,
  m: number(2, 1, 12, (fields, value) => (fields.month = value - 1)),
  p: stored(/[AP]M/iy, (fields, text) => (fields.isAfternoon = /p/i.test(text))),
  s: number(20, 0, Number.MAX_SAFE_INTEGER, (fields, value) => (fields.epoch = value)),
  u: number(1, 1, 7, (fields, value) => (fields.weekday = value % 7)),
  w: number(1, 0, 6, (fields, value) => (fields.weekday = value)),
  // POSIX: 69 to 99 are in the twentieth century.
  y: number(2, 0, 99, (fields, value) => (fields.year = value < 69 ? 2000 + value : 1900 + value)),
  z: ignored(/\s*(?:Z|[+-]\d{2}:?(?:\d{2})?)/y),
  '%': ignored(/%/y),
};
const SHORTHANDS: Readonly<Record<string, string>> = {
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  R: '%H:%M',
  T: '%H:%M:%S',
  c: '%a %b %e %H:%M:%S %Y',
  n: ' ',
  r: '%I:%M:%S %p',
  t: ' ',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

/** Reads a time as strptime does in the C locale; time zones are skipped. Undefined if the string does not match. */
export function parseTime(text: string, format: string): ParsedTime | undefined {
  const fields: Fields = {};
  // Shorthands are replaced first, so that the loop below knows single conversions only.
  const expanded = format.replace(
    /%[EO]?([DFRTcnrtxX])/g,
    (_, shorthand: string) => SHORTHANDS[shorthand] ?? '',
  );
  let at = 0;
  for (const [part, conversion] of expanded.matchAll(/%[-_0^#EO]?([A-Za-z%])|\s+|[^]/g)) {
    const end = conversion === undefined ? skip(text, at, part) : read(text, at, conversion, fields);
    if (end === undefined) return undefined;
    at = end;
  }
  const rest = text.slice(at);
  return /^\S/.test(rest) ? undefined : { time: timeOf(fields), rest };
}

/** White space in the format matches any amount of it; other characters match themselves. */
function skip(text: string, at: number, part: string): number | undefined {
  if (part.trim() === '') return at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
  return text.startsWith(part, at) ? at + part.length : undefined;
}

/**
 * Reads one conversion and returns the position behind it; undefined if it does not match or is out of range.
 */
function read(text: string, at: number, letter: string, fields: Fields): number | undefined {
  const conversion = CONVERSIONS[letter];
  if (conversion === undefined) return undefined;
  const { pattern, store } = conversion;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match !== null && store(fields, match[0].trim()) ? at + match[0].length : undefined;
}

/** The time that the fields give. A day that was not read is 0, as in the C library. */
function timeOf(fields: Fields): BrokenDownTime {
  const { hours = 0, minutes = 0, seconds = 0, isAfternoon = false, epoch, yearday } = fields;
  if (epoch !== undefined) return brokenDown(epoch);
  const year = yearOf(fields);
  const known = { ...fields, ...(yearday === undefined ? {} : dayOfYear(year, yearday, fields)) };
  const date = { year, month: known.month ?? 0, day: known.day ?? 0 };
  const isDate =
    fields.year !== undefined ||
    fields.century !== undefined ||
    known.month !== undefined ||
    known.day !== undefined;
  return {
    ...date,
    hours: hours + (isAfternoon ? 12 : 0),
    minutes,
    seconds,
    weekday: fields.weekday ?? (isDate ? weekdayOf(date) : UNKNOWN_WEEKDAY),
    yearday: yearday ?? (isDate ? yeardayOf(date) : UNKNOWN_YEARDAY),
  };
}

/** `%C` alone means the first year of the century, together with `%y` the whole year. */
function yearOf({ year, century }: Fields): number {
  if (century === undefined) return year ?? 1900;
  return century * 100 + (year === undefined ? 0 : year % 100);
}

/** The month and the day that a day of the year means, unless they were read. */
function dayOfYear(
  year: number,
  yearday: number,
  { month, day }: Fields,
): Pick<BrokenDownTime, 'month' | 'day'> {
  const start = { year, month: 0, day: yearday + 1, hours: 0, minutes: 0, seconds: 0 };
  const date = brokenDown(secondsOf(start));
  return { month: month ?? date.month, day: day ?? date.day };
}

/** Up to so many digits, after optional white space, within a range. */
function number(
  digits: number,
  least: number,
  most: number,
  store: (fields: Fields, value: number) => void,
): Conversion {
  return {
    pattern: new RegExp(`\\s*\\d{1,${digits}}`, 'y'),
    store: (fields, text) => {
      const value = Number(text);
      store(fields, value);
      return value >= least && value <= most;
    },
  };
}

/** Full names or their first three letters. */
function name(all: readonly string[], store: (fields: Fields, index: number) => void): Conversion {
  const pattern = new RegExp([...all, ...all.map((one) => one.slice(0, 3))].join('|'), 'iy');
  return stored(pattern, (fields, text) => {
    const start = text.slice(0, 3).toLowerCase();
    store(
      fields,
      all.findIndex((one) => one.slice(0, 3).toLowerCase() === start),
    );
  });
}

/** A conversion without a range. */
function stored(pattern: RegExp, store: (fields: Fields, text: string) => void): Conversion {
  return {
    pattern,
    store: (fields, text) => {
      store(fields, text);
      return true;
    },
  };
}

/** A conversion that is read and not used. */
function ignored(pattern: RegExp): Conversion {
  return stored(pattern, () => undefined);
}
