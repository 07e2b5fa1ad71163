// Time builtins. A time is either seconds since 1970 or the array that `gmtime` returns. Parsing and
// formatting follow strptime and strftime of glibc in the C locale (`time-parse.ts`, `time-format.ts`), the
// calendar is `calendar.ts`. The only source of the current time is the function that the engine was given.

import { type BrokenDownTime, brokenDown, secondsOf } from './calendar.ts';
import { JqError } from './jq-error.ts';
import { formatTime } from './time-format.ts';
import { parseTime } from './time-parse.ts';
import { isArray, isNumber, toDouble, type Value } from './value.ts';
import { type BuiltinTable, ofValues } from './value-builtin.ts';

/** About where the years of the C library end, which are 32-bit integers, as are the other fields of a time. */
const MAX_SECONDS = 2 ** 31 * 365.2425 * 86_400;
const MIN_FIELD = -(2 ** 31);
const MAX_FIELD = 2 ** 31 - 1;
const FIRST_YEAR = 1900;

/** Builtins about time. All of them reckon in UTC: filters run with an empty environment. */
export function timeBuiltins(nowMs: () => number): BuiltinTable {
  return {
    'now/0': ofValues(() => nowMs() / 1000),
    'gmtime/0': ofValues((input) => toValue(timeOf(input, 'gmtime() requires numeric inputs'))),
    'localtime/0': ofValues((input) => toValue(timeOf(input, 'localtime() requires numeric inputs'))),
    'mktime/0': ofValues((input) => {
      if (!isArray(input)) throw new JqError('mktime requires array inputs');
      const seconds = secondsOfFields(input, 'mktime requires parsed datetime inputs');
      // The C library returns these for what it cannot do, so jq takes them for that.
      if (seconds === -1) throw new JqError('invalid gmtime representation');
      if (seconds === -2) throw new JqError('mktime not supported on this platform');
      return seconds;
    }),
    'strftime/1': ofValues((input, format = null) => formatted('strftime', 'GMT', input, format)),
    'strflocaltime/1': ofValues((input, format = null) => formatted('strflocaltime', 'UTC', input, format)),
    'strptime/1': ofValues((input, format = null) => {
      if (typeof input !== 'string' || typeof format !== 'string') {
        throw new JqError('strptime/1 requires string inputs and arguments');
      }
      const parsed = parseTime(input, format);
      if (parsed === undefined) throw new JqError(`date "${input}" does not match format "${format}"`);
      const time = toValue(parsed.time);
      return parsed.rest === '' ? time : [...time, parsed.rest];
    }),
  };
}

/** Formats seconds since 1970 or a broken-down time; the time is checked before the format, as in jq. */
function formatted(name: string, zone: string, input: Value, format: Value): Value {
  const problem = `${name}/1 requires parsed datetime inputs`;
  const time = isArray(input) ? undefined : timeOf(input, problem);
  if (typeof format !== 'string') throw new JqError(`${name}/1 requires a string format`);
  return formatTime(time ?? brokenDown(secondsOfFields(input, problem)), zone, format);
}

/** Seconds since 1970 taken apart. The fraction is added to the seconds, also for times before 1970. */
function timeOf(input: Value, problem: string): BrokenDownTime {
  if (!isNumber(input)) throw new JqError(problem);
  const seconds = toDouble(input);
  if (!(Math.abs(seconds) <= MAX_SECONDS)) {
    throw new JqError('error converting number of seconds since epoch to datetime');
  }
  const time = brokenDown(Math.trunc(seconds));
  return { ...time, seconds: time.seconds + (seconds - Math.floor(seconds)) };
}

/** Seconds since 1970 of a time that was taken apart; missing fields are 0. */
function secondsOfFields(input: Value, problem: string): number {
  const numbers = (isArray(input) ? input.slice(0, 8) : []).map((part) => {
    const double = isNumber(part) ? toDouble(part) : Number.NaN;
    if (Number.isNaN(double)) throw new JqError(problem);
    return double;
  });
  const [year = FIRST_YEAR, ...others] = numbers;
  const [month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = others.map(field);
  return secondsOf({ year: field(year - FIRST_YEAR) + FIRST_YEAR, month, day, hours, minutes, seconds });
}

/** A field saturates at the limits of a C `int`. */
function field(double: number): number {
  return Math.trunc(Math.min(Math.max(double, MIN_FIELD), MAX_FIELD));
}

/** The eight numbers in which jq shows a time: month and day of the year count from 0. */
function toValue(time: BrokenDownTime): readonly Value[] {
  const { year, month, day, hours, minutes, seconds, weekday, yearday } = time;
  return [year, month, day, hours, minutes, seconds, weekday, yearday];
}
