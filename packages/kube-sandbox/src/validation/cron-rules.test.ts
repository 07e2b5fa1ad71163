import { expect, test } from 'vitest';
import { cronProblem } from './cron-rules.ts';

test.each([
  '* * * * *',
  '0 3 * * 1-5',
  '*/5 0-6/2 1,15 JAN mon',
  '@daily',
  '@every 1h30m',
  'TZ=UTC 0 0 * * *',
])('%s is a schedule', (schedule) => {
  expect(cronProblem(schedule)).toBeUndefined();
});

test.each([
  ['* * *', 'expected exactly 5 fields, found 3: [* * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every day', 'failed to parse duration @every day: time: invalid duration "day"'],
])('%s is none', (schedule, problem) => {
  expect(cronProblem(schedule)).toBe(problem);
});
