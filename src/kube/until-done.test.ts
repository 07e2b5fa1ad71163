import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { untilDone } from './until-done.ts';

const deps = { clock: new FakeClock(), random: () => 0 };

test('untilDone() tries again, later and later, until it succeeds', async () => {
  const clock = new FakeClock();
  const outcomes = ['first', 'second'];
  const told: unknown[] = [];
  const done = untilDone(
    async () => {
      const failure = outcomes.shift();
      if (failure !== undefined) throw new Error(failure);
      return 'done';
    },
    (error, delayMs) => told.push([(error as Error).message, delayMs]),
    { clock, random: () => 0 },
    new AbortController().signal,
  );
  await clock.untilAsleep();
  await clock.advance(800);
  await clock.untilAsleep();
  await clock.advance(1_600);

  await expect(done).resolves.toBe('done');
  expect(told).toEqual([
    ['first', 800],
    ['second', 1_600],
  ]);
});

test('untilDone() gives up with what is thrown for a failure', async () => {
  const attempt = async (): Promise<void> => {
    throw new Error('not to be repeated');
  };
  const onFailure = (error: unknown): void => {
    throw error;
  };

  await expect(untilDone(attempt, onFailure, deps, new AbortController().signal)).rejects.toThrow(
    'not to be repeated',
  );
});

test('untilDone() ends with the reason of the abort, and tells of no failure then', async () => {
  const stop = new AbortController();
  const told: unknown[] = [];
  const attempt = async (): Promise<void> => {
    stop.abort(new Error('stopped'));
    throw new Error('in the middle');
  };

  await expect(untilDone(attempt, (error) => told.push(error), deps, stop.signal)).rejects.toThrow('stopped');
  expect(told).toEqual([]);
});
