import { expect, test } from 'vitest';
import { jittered, shortened } from './jitter.ts';

const JUST_BELOW_1 = 1 - 2 ** -53;

test.each([
  { delayMs: 10_000, random: 0, about: 9_000, atMost: 10_000 },
  { delayMs: 10_000, random: 0.25, about: 9_500, atMost: 9_750 },
  { delayMs: 10_000, random: 0.5, about: 10_000, atMost: 9_500 },
  { delayMs: 10_000, random: JUST_BELOW_1, about: 11_000, atMost: 9_000 },
  { delayMs: 15, random: 0.1, about: 14, atMost: 14 },
  { delayMs: 1, random: 0, about: 1, atMost: 1 },
  { delayMs: 0, random: 0.7, about: 0, atMost: 0 },
])(
  'jittered() gives $about and shortened() $atMost, for $delayMs and the number $random',
  ({ delayMs, random, about, atMost }) => {
    expect(jittered(delayMs, () => random)).toBe(about);
    expect(shortened(delayMs, () => random)).toBe(atMost);
  },
);
