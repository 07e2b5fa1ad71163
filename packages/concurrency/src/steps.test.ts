import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { finish, finishInSlices, type Steps } from './steps.ts';

/** Each step takes so many milliseconds of the clock. */
function* steps(count: number, clock: FakeClock, ms: number): Steps<string> {
  for (let done = 0; done < count; done += 1) {
    void clock.advance(ms);
    yield;
  }
  return 'done';
}

/** How many turns of the event loop others get until a computation is over. */
async function turnsDuring(computation: Promise<unknown>): Promise<number> {
  const over = computation.then(() => 'over');
  for (let turns = 1; ; turns += 1) {
    if ((await Promise.race([over, setImmediate()])) === 'over') return turns;
  }
}

test('finish() gives the result of all steps', () => {
  expect(finish(steps(3, new FakeClock(), 0))).toBe('done');
});

test('finishInSlices() lets others run every 20 ms', async () => {
  const clock = new FakeClock();
  const computation = finishInSlices(steps(1_000, clock, 1), clock);
  expect(await turnsDuring(computation)).toBeGreaterThanOrEqual(49);
  expect(await computation).toBe('done');
});

test('finishInSlices() of short steps costs no turn', async () => {
  const clock = new FakeClock();
  expect(await turnsDuring(finishInSlices(steps(19, clock, 1), clock))).toBe(1);
});

test('finishInSlices() fails as its steps do', async () => {
  const broken = function* (): Steps<void> {
    yield;
    throw new Error('broken');
  };
  await expect(finishInSlices(broken(), new FakeClock())).rejects.toThrow('broken');
});
