// strftime in the C locale, with the flags of glibc (`-`, `_`, `0`, `^`, `#`) and a width. `builtins-time.ts`
// calls it for `strftime`, `strflocaltime` and `todate`.

import { type BrokenDownTime, secondsOf, weekdayOf } from './calendar.ts';

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
const ABBREVIATED = 3;
const CONVERSION = /%([-_0^#]*)(\d{0,4})[EO]?([A-Za-z%])/g;
const THURSDAY = 4;

/** The result of a conversion: a word, other conversions, or a number with its width and its fill character. */
type Shown = string | { readonly format: string } | readonly [number: number, width: number, fill: '0' | ' '];

/** Writes a time as strftime does in the C locale. Unknown conversions stay as they are. */
export function formatTime(time: BrokenDownTime, zone: string, format: string): string {
  return format.replace(CONVERSION, (whole: string, flags: string, width: string, name: string) => {
    const shown = name === 'Z' ? zone : CONVERSIONS[name]?.(time);
    if (shown === undefined) return whole;
    if (typeof shown !== 'string' && 'format' in shown) {
      return padded(formatTime(time, zone, shown.format), flags, Number(width), ' ');
    }
    if (typeof shown === 'string') return padded(inCase(shown, name, flags), flags, Number(width), ' ');
    const [number, ownWidth, fill] = shown;
    return padded(String(number), flags, Number(width) || ownWidth, fill);
  });
}

/** `^` writes upper case; `#` swaps it, which means lower case for am, pm and the zone. */
function inCase(text: string, name: string, flags: string): string {
  if (flags.includes('#')) return /[pPZ]/.test(name) ? text.toLowerCase() : text.toUpperCase();
  return flags.includes('^') ? text.toUpperCase() : text;
}

/** The last flag wins; a negative number is padded behind its sign. */
function padded(text: string, flags: string, width: number, fill: '0' | ' '): string {
  const last = flags.replace(/[^-_0]/g, '').at(-1);
  if (last === '-') return text;
  const filler = last === undefined ? fill : last === '_' ? ' ' : '0';
  const isNegative = filler === '0' && text.startsWith('-');
  return isNegative ? `-${text.slice(1).padStart(width - 1, filler)}` : text.padStart(width, filler);
}

/** One entry per letter; widths and fill characters are the defaults of glibc. */
const CONVERSIONS: Readonly<Record<string, (time: BrokenDownTime) => Shown>> = {
  A: ({ weekday }) => WEEKDAYS[weekday] ?? '?',
  B: ({ month }) => MONTHS[month] ?? '?',
  C: ({ year }) => [Math.floor(year / 100), 2, '0'],
  D: () => ({ format: '%m/%d/%y' }),
  F: () => ({ format: '%Y-%m-%d' }),
  G: (time) => [isoWeek(time).year, 1, '0'],
  H: ({ hours }) => [hours, 2, '0'],
  I: ({ hours }) => [hours % 12 || 12, 2, '0'],
  M: ({ minutes }) => [minutes, 2, '0'],
  P: ({ hours }) => (hours < 12 ? 'am' : 'pm'),
  R: () => ({ format: '%H:%M' }),
  S: ({ seconds }) => [Math.floor(seconds), 2, '0'],
  T: () => ({ format: '%H:%M:%S' }),
  U: ({ yearday, weekday }) => [Math.floor((yearday + 7 - weekday) / 7), 2, '0'],
  V: (time) => [isoWeek(time).week, 2, '0'],
  W: ({ yearday, weekday }) => [Math.floor((yearday + 7 - ((weekday + 6) % 7)) / 7), 2, '0'],
  X: () => ({ format: '%H:%M:%S' }),
  Y: ({ year }) => [year, 1, '0'],
  a: ({ weekday }) => (WEEKDAYS[weekday] ?? '?').slice(0, ABBREVIATED),
  b: ({ month }) => (MONTHS[month] ?? '?').slice(0, ABBREVIATED),
  c: () => ({ format: '%a %b %e %H:%M:%S %Y' }),
  d: ({ day }) => [day, 2, '0'],
  e: ({ day }) => [day, 2, ' '],
  g: (time) => [inCentury(isoWeek(time).year), 2, '0'],
  h: ({ month }) => (MONTHS[month] ?? '?').slice(0, ABBREVIATED),
  j: ({ yearday }) => [yearday + 1, 3, '0'],
  k: ({ hours }) => [hours, 2, ' '],
  l: ({ hours }) => [hours % 12 || 12, 2, ' '],
  m: ({ month }) => [month + 1, 2, '0'],
  n: () => '\n',
  p: ({ hours }) => (hours < 12 ? 'AM' : 'PM'),
  r: () => ({ format: '%I:%M:%S %p' }),
  s: (time) => [Math.floor(secondsOf(time)), 1, '0'],
  t: () => '\t',
  u: ({ weekday }) => [weekday || 7, 1, '0'],
  w: ({ weekday }) => [weekday, 1, '0'],
  x: () => ({ format: '%m/%d/%y' }),
  y: ({ year }) => [inCentury(year), 2, '0'],
  z: () => '+0000',
  '%': () => '%',
};

/** The last two digits, positive for years before 0 as well. */
function inCentury(year: number): number {
  return ((year % 100) + 100) % 100;
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

/** A year has 53 ISO weeks if it begins or ends on a Thursday. */
function weeksIn(year: number): number {
  const [first, last] = [weekdayOf({ year, month: 0, day: 1 }), weekdayOf({ year, month: 11, day: 31 })];
  return first === THURSDAY || last === THURSDAY ? 53 : 52;
}
