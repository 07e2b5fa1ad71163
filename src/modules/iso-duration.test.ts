import { expect, test } from 'vitest';
import { parseIsoDuration } from './reconcile-webhook.ts';

test.each([
  ['PT5S', 5_000],
  ['PT1M30S', 90_000],
  ['PT0.5S', 500],
  ['PT0,25S', 250],
  ['PT2H', 7_200_000],
  ['P1D', 86_400_000],
  ['P1W', 604_800_000],
  ['P1DT1H', 90_000_000],
  ['PT0S', 0],
])('parseIsoDuration() reads %s', (text, expected) => {
  expect(parseIsoDuration(text)).toBe(expected);
});

test.each([
  '',
  'P',
  'PT',
  'P1DT',
  '5s',
  'PT5',
  '5',
  'P1Y',
  'P1M',
  'PT-5S',
  '-PT5S',
  'pt5s',
  'PT1.5M',
  ' PT5S',
])('parseIsoDuration() refuses "%s"', (text) => {
  expect(parseIsoDuration(text)).toBeUndefined();
});
