import { expect, test } from 'vitest';
import { boundedDelay, isoTime, LONGEST_DELAY_MS } from './bounded-time.ts';

test.each([
  [0, 0],
  [1.5, 1.5],
  [-1, 0],
  [Number.NaN, 0],
  [Number.MAX_SAFE_INTEGER, LONGEST_DELAY_MS],
  [Number.POSITIVE_INFINITY, LONGEST_DELAY_MS],
])('a delay of %s becomes %s', (given, expected) => {
  expect(boundedDelay(given)).toBe(expected);
});

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [Number.NaN, '1970-01-01T00:00:00.000Z'],
  [Number.MAX_SAFE_INTEGER, '+275760-09-13T00:00:00.000Z'],
  [Number.NEGATIVE_INFINITY, '-271821-04-20T00:00:00.000Z'],
])('the time %s is written as %s', (given, expected) => {
  expect(isoTime(given)).toBe(expected);
});
