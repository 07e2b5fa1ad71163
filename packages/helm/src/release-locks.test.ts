import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { createHolder, isHolderAlive, LockAges } from './release-locks.ts';

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

test('unchangedMs() is the time since the last change that this process has seen, in any history', async () => {
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

const self = createHolder('hosta', 100, 'n1');

test.each([
  ['our own helm, which we know has ended', 'hosta.100.n1', [100], false],
  ['the operator before us with the same pid, as in a restarted container', 'hosta.100.n0', [100], false],
  ['a dead operator process of this host', 'hosta.90.n0', [], false],
  ['a live operator process of this host', 'hosta.90.n0', [90], true],
  ['an operator of another host: only one may act at a time', 'hostb.90.n0', [90], false],
])('isHolderAlive() judges %s', (_case, token, livePids, expected) => {
  expect(isHolderAlive(token, self, (pid) => livePids.includes(pid))).toBe(expected);
});

test('isHolderAlive() compares the start time of the process with that of the holder', () => {
  const asked: unknown[] = [];
  const isAlive = (pid: number, start: string | undefined): boolean => asked.push([pid, start]) > 0;
  const { token } = createHolder('hosta', 90, 'n0', '4711');
  expect(token).toBe('hosta.90.n0-4711');
  isHolderAlive(token, self, isAlive);
  isHolderAlive('hosta.90.n0', self, isAlive);
  expect(asked).toEqual([
    [90, '4711'],
    [90, undefined],
  ]);
});
