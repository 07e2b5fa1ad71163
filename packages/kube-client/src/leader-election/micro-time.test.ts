import { expect, test } from 'vitest';
import { microTime } from './micro-time.ts';

test('microTime() has six digits behind the seconds', () => {
  expect(microTime(Date.UTC(2026, 10, 21, 12, 0, 1, 5))).toBe('2026-11-21T12:00:01.005000Z');
});
