/** A moment in UTC, as jq takes it apart. */
export interface BrokenDownTime {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  /** With its fraction. */
  readonly seconds: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** From 0. */
  readonly yearday: number;
}

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const MS_PER_DAY = 86_400_000;
const ABBREVIATED = 3;

export function brokenDown(secondsSince1970: number): BrokenDownTime {
  const whole = Math.floor(secondsSince1970);
  const date = new Date(whole * 1000);
  const year = date.getUTCFullYear();
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds() + (secondsSince1970 - whole),
    weekday: date.getUTCDay(),
    yearday: Math.floor((date.getTime() - utcMs(year, 0, 1)) / MS_PER_DAY),
  };
}

/** Seconds since 1970; the days of week and year are not looked at. */
export function secondsOf({ year, month, day, hours, minutes, seconds }: BrokenDownTime): number {
  return utcMs(year, month, day) / 1000 + hours * 3600 + minutes * 60 + seconds;
}

function utcMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** Writes a time as strftime does in the C locale. Unknown conversions stay as they are. */
export function formatTime(time: BrokenDownTime, format: string): string {
  return format.replace(/%[-_0^EO]?([A-Za-z%])/g, (whole, name: string) => {
    const text = CONVERSIONS[name]?.(time) ?? whole;
    return whole[1] === '-' ? text.replace(/^[0 ]+(?=.)/, '') : text;
  });
}

const CONVERSIONS: Readonly<Record<string, (time: BrokenDownTime) => string>> = {
  A: ({ weekday }) => WEEKDAYS[weekday] ?? '?',
  B: ({ month }) => MONTHS[month] ?? '?',
  C: ({ year }) => padded(Math.floor(year / 100)),
  D: (time) => formatTime(time, '%m/%d/%y'),
  F: (time) => formatTime(time, '%Y-%m-%d'),
  G: (time) => String(isoWeek(time).year),
  H: ({ hours }) => padded(hours),
  I: ({ hours }) => padded(hours % 12 || 12),
  M: ({ minutes }) => padded(minutes),
  R: (time) => formatTime(time, '%H:%M'),
  S: ({ seconds }) => padded(Math.floor(seconds)),
  T: (time) => formatTime(time, '%H:%M:%S'),
  U: ({ yearday, weekday }) => padded(Math.floor((yearday + 7 - weekday) / 7)),
  V: (time) => padded(isoWeek(time).week),
  W: ({ yearday, weekday }) => padded(Math.floor((yearday + 7 - ((weekday + 6) % 7)) / 7)),
  X: (time) => formatTime(time, '%H:%M:%S'),
  Y: ({ year }) => String(year),
  Z: () => 'UTC',
  a: ({ weekday }) => (WEEKDAYS[weekday] ?? '?').slice(0, ABBREVIATED),
  b: ({ month }) => (MONTHS[month] ?? '?').slice(0, ABBREVIATED),
  c: (time) => formatTime(time, '%a %b %e %H:%M:%S %Y'),
  d: ({ day }) => padded(day),
  e: ({ day }) => String(day).padStart(2),
  g: (time) => padded(isoWeek(time).year % 100),
  h: (time) => formatTime(time, '%b'),
  j: ({ yearday }) => String(yearday + 1).padStart(3, '0'),
  k: ({ hours }) => String(hours).padStart(2),
  l: ({ hours }) => String(hours % 12 || 12).padStart(2),
  m: ({ month }) => padded(month + 1),
  n: () => '\n',
  p: ({ hours }) => (hours < 12 ? 'AM' : 'PM'),
  r: (time) => formatTime(time, '%I:%M:%S %p'),
  s: (time) => String(Math.floor(secondsOf(time))),
  t: () => '\t',
  u: ({ weekday }) => String(weekday || 7),
  w: ({ weekday }) => String(weekday),
  x: (time) => formatTime(time, '%m/%d/%y'),
  y: ({ year }) => padded(((year % 100) + 100) % 100),
  z: () => '+0000',
  '%': () => '%',
};

function padded(number: number): string {
  return String(number).padStart(2, '0');
}

/** Weeks begin on Monday; the first one has the year's first Thursday. */
function isoWeek({ year, yearday, weekday }: BrokenDownTime): {
  readonly year: number;
  readonly week: number;
} {
  const week = Math.floor((yearday - ((weekday + 6) % 7) + 10) / 7);
  if (week < 1) return { year: year - 1, week: weeksIn(year - 1) };
  return week > weeksIn(year) ? { year: year + 1, week: 1 } : { year, week };
}

function weeksIn(year: number): number {
  const lastDay = new Date(utcMs(year, 11, 31)).getUTCDay();
  const firstDay = new Date(utcMs(year, 0, 1)).getUTCDay();
  return lastDay === 4 || firstDay === 4 ? 53 : 52;
}
