import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { LockAges } from './lock-ages.ts';

const record = (resourceVersion: string, release = 'web') => ({ release, uid: 'u', resourceVersion });

test('unchangedMs() counts from the first sight of a record, and anew when it is written', async () => {
  const clock = new FakeClock();
  const ages = new LockAges(clock);
  expect(ages.unchangedMs(record('1'))).toBe(0);
  await clock.advance(5_000);
  clock.setWall(-60_000);
  expect(ages.unchangedMs(record('1'))).toBe(5_000);
  expect(ages.unchangedMs(record('2'))).toBe(0);
  expect(ages.unchangedMs(record('1', 'db'))).toBe(0);
});

test('unlock() counts for one state of one record', async () => {
  const clock = new FakeClock();
  const ages = new LockAges(clock);
  ages.unlock(record('1'));
  expect(ages.unchangedMs(record('1'))).toBe(Number.POSITIVE_INFINITY);
  expect(ages.unchangedMs(record('2'))).toBe(0);
  expect(ages.unchangedMs(record('1'))).toBe(0);
});

test('unchangedMs() is the time since the last change that this process has seen, whatever happens', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('pass'), ms: fc.nat(1_000_000) }),
      fc.record({ type: fc.constant('write'), ms: fc.constant(0) }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const clock = new FakeClock();
      const ages = new LockAges(clock);
      let [version, sinceMs] = [0, 0];
      ages.unchangedMs(record('0'));
      for (const { type, ms } of script) {
        if (type === 'write') [version, sinceMs] = [version + 1, clock.steadyMs()];
        else await clock.advance(ms);
        clock.setWall(ms - 500_000);
        expect(ages.unchangedMs(record(String(version)))).toBe(clock.steadyMs() - sinceMs);
      }
    }),
    { numRuns: 30 },
  );
});
