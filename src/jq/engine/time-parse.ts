import { type BrokenDownTime, brokenDown, MONTHS, secondsOf, WEEKDAYS } from './time-format.ts';

interface Fields {
  year: number;
  month: number;
  day: number;
  hours: number;
  minutes: number;
  seconds: number;
  isAfternoon: boolean | undefined;
  yearday: number | undefined;
  epoch: number | undefined;
}

type Store = (fields: Fields, text: string) => void;

/** How each conversion of strptime is read: a regular expression, and what becomes of its match. */
const CONVERSIONS: Readonly<Record<string, readonly [RegExp, Store]>> = {
  Y: number(4, (fields, value) => (fields.year = value)),
  m: number(2, (fields, value) => (fields.month = value - 1)),
  d: number(2, (fields, value) => (fields.day = value)),
  e: number(2, (fields, value) => (fields.day = value)),
  H: number(2, (fields, value) => (fields.hours = value)),
  k: number(2, (fields, value) => (fields.hours = value)),
  I: number(2, (fields, value) => (fields.hours = value % 12)),
  l: number(2, (fields, value) => (fields.hours = value % 12)),
  M: number(2, (fields, value) => (fields.minutes = value)),
  S: number(2, (fields, value) => (fields.seconds = value)),
  j: number(3, (fields, value) => (fields.yearday = value - 1)),
  y: number(2, (fields, value) => (fields.year = value < 69 ? 2000 + value : 1900 + value)),
  s: number(20, (fields, value) => (fields.epoch = value)),
  A: [names(WEEKDAYS), () => undefined],
  a: [names(WEEKDAYS), () => undefined],
  B: [names(MONTHS), (fields, text) => (fields.month = monthOf(text))],
  b: [names(MONTHS), (fields, text) => (fields.month = monthOf(text))],
  h: [names(MONTHS), (fields, text) => (fields.month = monthOf(text))],
  p: [/[AP]M/iy, (fields, text) => (fields.isAfternoon = /p/i.test(text))],
  Z: [/[A-Za-z]*/y, () => undefined],
  z: [/\s*(?:Z|[+-]\d{2}:?(?:\d{2})?)/y, () => undefined],
  u: [/[1-7]/y, () => undefined],
  w: [/[0-6]/y, () => undefined],
  '%': [/%/y, () => undefined],
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

/** Reads a time as strptime does in the C locale; time zones are read over. Undefined if the text does not fit. */
export function parseTime(text: string, format: string): BrokenDownTime | undefined {
  const fields: Fields = {
    year: 1900,
    month: 0,
    day: 0,
    hours: 0,
    minutes: 0,
    seconds: 0,
    isAfternoon: undefined,
    yearday: undefined,
    epoch: undefined,
  };
  const expanded = format.replace(/%[EO]?([DFRTcnrtxX])/g, (_, name: string) => SHORTHANDS[name] ?? '');
  let at = 0;
  for (const [part, conversion] of expanded.matchAll(/%[-_0^EO]?([A-Za-z%])|\s+|[^]/g)) {
    const end = conversion === undefined ? skip(text, at, part) : read(text, at, conversion, fields);
    if (end === undefined) return undefined;
    at = end;
  }
  return at === text.length ? timeOf(fields) : undefined;
}

function skip(text: string, at: number, part: string): number | undefined {
  if (part.trim() === '') return at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
  return text.startsWith(part, at) ? at + part.length : undefined;
}

function read(text: string, at: number, conversion: string, fields: Fields): number | undefined {
  const [pattern, store] = CONVERSIONS[conversion] ?? [];
  if (pattern === undefined || store === undefined) return undefined;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  store(fields, match[0].trim());
  return at + match[0].length;
}

function timeOf(fields: Fields): BrokenDownTime | undefined {
  const { year, month, day, hours, minutes, seconds, isAfternoon, yearday, epoch } = fields;
  if (month > 11 || day > 31 || hours > 24 || minutes > 59 || seconds > 61) return undefined;
  if (epoch !== undefined) return brokenDown(epoch);
  const time = { year, month, day, hours: hours + (isAfternoon === true ? 12 : 0), minutes, seconds };
  const noDays = { weekday: 0, yearday: 0 };
  const start = yearday === undefined ? time : { ...time, month: 0, day: yearday + 1 };
  const whole = brokenDown(secondsOf({ ...start, ...noDays }));
  return yearday === undefined ? { ...time, weekday: whole.weekday, yearday: whole.yearday } : whole;
}

function number(digits: number, store: (fields: Fields, value: number) => void): readonly [RegExp, Store] {
  return [new RegExp(`\\s*[+-]?\\d{1,${digits}}`, 'y'), (fields, text) => store(fields, Number(text))];
}

/** Full names or their first three letters. */
function names(all: readonly string[]): RegExp {
  return new RegExp([...all, ...all.map((name) => name.slice(0, 3))].join('|'), 'iy');
}

function monthOf(text: string): number {
  return MONTHS.findIndex((name) => name.slice(0, 3).toLowerCase() === text.slice(0, 3).toLowerCase());
}
