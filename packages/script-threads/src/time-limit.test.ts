import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { TimeLimit } from './time-limit.ts';

function limitOf(ms: number): { clock: FakeClock; limit: TimeLimit; isOver: () => boolean } {
  const clock = new FakeClock();
  let over = false;
  const limit = new TimeLimit(ms, clock, () => {
    over = true;
  });
  return { clock, limit, isOver: () => over };
}

test('it is over when its time has passed', async () => {
  const { clock, isOver } = limitOf(100);
  await clock.advance(99);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});

test('pauses do not count, and time goes on when the last of them has ended', async () => {
  const { clock, limit, isOver } = limitOf(100);
  await clock.advance(60);
  limit.pause();
  limit.pause();
  await clock.advance(1_000);
  limit.resume();
  await clock.advance(1_000);
  limit.resume();
  await clock.advance(39);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});

test('a limit that has ended never expires, when pauses end later', async () => {
  const { clock, limit, isOver } = limitOf(100);
  limit.pause();
  limit.end();
  limit.resume();
  await clock.advance(1_000);
  expect(isOver()).toBe(false);
  expect(clock.pendingDelaysMs).toEqual([]);
});
