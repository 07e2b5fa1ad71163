import { assert, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

test.each([
  ['0', 0],
  ['+0', 0],
  ['5s', 5_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1_500],
  ['.5s', 500],
  ['1.s', 1_000],
  ['300ms', 300],
  ['1us', 0.001],
  ['1µs', 0.001],
  ['1μs', 0.001],
  ['1500000ns', 1.5],
  ['-2m', -120_000],
  ['1m1m', 120_000],
])('parseGoDuration() reads %s', (text, ms) => {
  expect(parseGoDuration(text)).toBe(ms);
});

test.each(['', '5', 's', '1d', '1.5', ' 1s', '1s ', '1,5s', '--1s', '1 s', '.s', '3000000h', 'abc', '1e3s'])(
  'parseGoDuration() refuses %j',
  (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  },
);

test.each([
  [0, '0s'],
  [1_200_000, '20m0s'],
  [1_500, '1.5s'],
  [300, '300ms'],
  [3_600_000, '1h0m0s'],
  [90_061_000, '25h1m1s'],
  [-1_500, '-1.5s'],
  [0.0015, '1.5µs'],
  [0.000_002, '2ns'],
  [59_999.5, '59.9995s'],
])('formatGoDuration() writes %d ms as %s', (ms, text) => {
  expect(formatGoDuration(ms)).toBe(text);
});

test('what formatGoDuration() writes, parseGoDuration() reads', () => {
  assert(
    property(integer({ min: -1e12, max: 1e12 }), (ms) => {
      expect(parseGoDuration(formatGoDuration(ms))).toBeCloseTo(ms, 3);
    }),
  );
});
