import { expect, test } from 'vitest';
import { ageCell, untilCell } from './time-cells.ts';

const NOW = Date.parse('2026-01-10T00:00:00Z');

test.each([
  ['2026-01-10T00:00:00.000Z', '0s', '0s'],
  ['2026-01-09T23:58:25.000Z', '95s', '0s'],
  ['2026-01-09T23:58:00.000Z', '2m', '0s'],
  ['2026-01-09T22:00:00.000Z', '2h', '0s'],
  ['2026-01-08T00:00:00.000Z', '2d', '0s'],
  ['2026-01-10T00:00:12.900Z', '0s', '12s'],
  ['2026-01-10T01:30:00.000Z', '0s', '90m'],
  ['', '', ''],
  ['soon', 'soon', 'soon'],
])('%j is shown as %s ago and in %s', (time, ago, until) => {
  expect([ageCell(time, NOW), untilCell(time, NOW)]).toEqual([ago, until]);
});

test('without a clock times are shown as they are', () => {
  const time = '2026-01-09T00:00:00Z';
  expect([ageCell(time, undefined), untilCell(time, undefined)]).toEqual([time, time]);
});
