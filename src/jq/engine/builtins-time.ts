import { JqError } from './jq-error.ts';
import { type BrokenDownTime, brokenDown, formatTime, secondsOf } from './time-format.ts';
import { parseTime } from './time-parse.ts';
import { isArray, isNumber, toDouble, type Value } from './value.ts';
import { type BuiltinTable, ofValues } from './value-builtin.ts';

const MAX_SECONDS = 8_640_000_000_000;

/** Builtins about time. All of them reckon in UTC: filters run with an empty environment. */
export function timeBuiltins(nowMs: () => number): BuiltinTable {
  return {
    'now/0': ofValues(() => nowMs() / 1000),
    'gmtime/0': ofValues((input) => toValue(timeOf(input, 'gmtime() requires a number'))),
    'localtime/0': ofValues((input) => toValue(timeOf(input, 'localtime() requires a number'))),
    'mktime/0': ofValues((input) => {
      if (!isArray(input)) throw new JqError('mktime requires array inputs');
      return Math.floor(secondsOf(parsed(input, 'mktime requires parsed datetime inputs')));
    }),
    'strftime/1': ofValues((input, format = null) => formatted('strftime', input, format)),
    'strflocaltime/1': ofValues((input, format = null) => formatted('strflocaltime', input, format)),
    'strptime/1': ofValues((input, format = null) => {
      if (typeof input !== 'string') {
        throw new JqError(`strptime/1 requires string inputs and arguments`);
      }
      if (typeof format !== 'string') throw new JqError('strptime/1 requires string inputs and arguments');
      const time = parseTime(input, format);
      if (time === undefined) throw new JqError(`date "${input}" does not match format "${format}"`);
      return toValue(time);
    }),
  };
}

function formatted(name: string, input: Value, format: Value): Value {
  const problem = `${name}/1 requires parsed datetime inputs`;
  const time = isArray(input) ? parsed(input, problem) : timeOf(input, problem);
  if (typeof format !== 'string') throw new JqError(`${name}/1 requires a string format`);
  return formatTime(time, format);
}

function timeOf(input: Value, problem: string): BrokenDownTime {
  if (!isNumber(input)) throw new JqError(problem);
  const seconds = toDouble(input);
  if (Number.isNaN(seconds) || Math.abs(seconds) > MAX_SECONDS) {
    throw new JqError('error converting number of seconds since epoch to datetime');
  }
  return brokenDown(seconds);
}

function parsed(input: readonly Value[], problem: string): BrokenDownTime {
  const numbers = input.map((part) => {
    if (!isNumber(part)) throw new JqError(problem);
    return Math.trunc(toDouble(part));
  });
  const [year, month, day, hours, minutes, seconds, weekday = 0, yearday = 0] = numbers;
  if (
    year === undefined ||
    month === undefined ||
    day === undefined ||
    hours === undefined ||
    minutes === undefined ||
    seconds === undefined
  ) {
    throw new JqError(problem);
  }
  return { year, month, day, hours, minutes, seconds, weekday, yearday };
}

function toValue(time: BrokenDownTime): Value {
  const { year, month, day, hours, minutes, seconds, weekday, yearday } = time;
  return [year, month, day, hours, minutes, seconds, weekday, yearday];
}
