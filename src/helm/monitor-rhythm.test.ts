import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { monitorDelayMs, randomShiftMs } from './monitor-rhythm.ts';

const anyMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
const anyShiftMs = fc.integer({ min: 0, max: 299 }).map((seconds) => seconds * 1_000);

test('a monitor waits at least 270 s and less than 330 s, whenever it starts', () => {
  fc.assert(
    fc.property(anyMs, anyShiftMs, (nowMs, shiftMs) => {
      const delayMs = monitorDelayMs(nowMs, shiftMs);
      expect(delayMs).toBeGreaterThanOrEqual(270_000);
      expect(delayMs).toBeLessThan(330_000);
    }),
  );
});

test('monitors started at different times look at the same time within an hour, and go on together every five minutes', () => {
  const lookAfterAnHour = (startMs: number, shiftMs: number, untilMs: number): number => {
    let nowMs = startMs;
    while (nowMs < untilMs) nowMs += monitorDelayMs(nowMs, shiftMs);
    return nowMs;
  };
  fc.assert(
    fc.property(anyMs, fc.nat(600_000), anyShiftMs, (startMs, laterMs, shiftMs) => {
      const untilMs = startMs + laterMs + 3_600_000;
      const look = lookAfterAnHour(startMs, shiftMs, untilMs);
      expect(lookAfterAnHour(startMs + laterMs, shiftMs, untilMs)).toBe(look);
      expect(monitorDelayMs(look, shiftMs)).toBe(300_000);
    }),
  );
});

test('randomShiftMs() is a full second below five minutes', () => {
  expect(randomShiftMs(() => 0)).toBe(0);
  expect(randomShiftMs(() => 0.5)).toBe(150_000);
  expect(randomShiftMs(() => 0.999_999)).toBe(299_000);
});
