import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('a sleep of less than nothing ends at once and without a warning of Node', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error): void => void warnings.push(warning);
  process.on('warning', keep);
  try {
    await systemClock.sleep(-5, new AbortController().signal);
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', keep);
  }
});
