import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { DeadlineWatch } from './run-deadline.ts';

function lab() {
  const clock = new FakeClock(0, 1_000);
  const done: string[] = [];
  const watch = new DeadlineWatch({
    steadyClock: clock,
    onTerm: () => done.push(`term at ${clock.steadyMs()}`),
    onKill: () => done.push(`kill at ${clock.steadyMs()}`),
  });
  return { clock, done, watch };
}

test('a deadline that is put off in time never passes', async () => {
  const { clock, done, watch } = lab();
  for (let round = 0; round < 5; round += 1) {
    watch.set({ termAtMs: clock.steadyMs() + 100, killAtMs: clock.steadyMs() + 150 });
    await clock.advance(99);
  }
  expect([done, watch.hasPassed()]).toEqual([[], false]);
});

test('without a deadline nothing passes', () => {
  expect(lab().watch.hasPassed()).toBe(false);
});

test('a deadline that is not put off means TERM, then KILL, each once', async () => {
  const { clock, done, watch } = lab();
  watch.set({ termAtMs: 1_100, killAtMs: 1_150 });
  await clock.advance(1_000);
  expect([done, watch.hasPassed()]).toEqual([['term at 1100', 'kill at 1150'], true]);
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a deadline that has passed cannot be put off, only brought forward', async () => {
  const { clock, done, watch } = lab();
  watch.set({ termAtMs: 1_100, killAtMs: 1_500 });
  await clock.advance(120);
  watch.set({ termAtMs: 9_000, killAtMs: 9_000 });
  expect([done, watch.hasPassed()]).toEqual([['term at 1100'], true]);
  watch.set({ termAtMs: 0, killAtMs: 0 });
  expect(done).toEqual(['term at 1100', 'kill at 1120']);
});

test('hasPassed() acts although the timer has not come to it yet', async () => {
  let nowMs = 0;
  const done: string[] = [];
  const { promise: sleep } = Promise.withResolvers<void>();
  const watch = new DeadlineWatch({
    steadyClock: { steadyMs: () => nowMs, sleep: () => sleep },
    onTerm: () => done.push('term'),
    onKill: () => done.push('kill'),
  });
  watch.set({ termAtMs: 10, killAtMs: 20 });
  nowMs = 30;
  expect([watch.hasPassed(), done]).toEqual([true, ['term', 'kill']]);
});

test('a deadline that passes while the machine is suspended is noticed a second after it wakes', async () => {
  const { clock, done, watch } = lab();
  let suspendedMs = 0;
  const steadyClock = {
    steadyMs: () => clock.steadyMs() + suspendedMs,
    sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
  };
  const suspended = new DeadlineWatch({
    steadyClock,
    onTerm: () => done.push('term'),
    onKill: () => done.push('kill'),
  });
  suspended.set({ termAtMs: clock.steadyMs() + 10_000, killAtMs: clock.steadyMs() + 14_000 });
  suspendedMs = 3_600_000;
  await clock.advance(1_000);
  expect([done, suspended.hasPassed(), watch.hasPassed()]).toEqual([['term', 'kill'], true, false]);
});
