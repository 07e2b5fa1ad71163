import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { PollLoop } from './poll-loop.ts';

const never = new AbortController().signal;

/** A loop over descriptors that are ready when the test says so; each of its turns takes no time. */
function loopOf(clock = new FakeClock()) {
  const ready = new Set<number>();
  const waitsMs: number[] = [];
  const loop = new PollLoop(
    {
      poll: (table, count, timeoutMs) => {
        waitsMs.push(timeoutMs);
        let found = 0;
        for (let index = 0; index < count; index += 1) {
          const isReady = ready.has(table[2 * index] ?? -1);
          table[2 * index + 1] = 1 | (isReady ? 1 << 16 : 0);
          if (isReady) found += 1;
        }
        return found;
      },
    },
    clock,
  );
  return { loop, ready, waitsMs, clock };
}

test('calls back for the descriptors that are ready, in each turn in which they are', async () => {
  const { loop, ready } = loopOf();
  const calls: number[] = [];
  for (let fd = 3; fd < 103; fd += 1) loop.watch(fd, () => calls.push(fd));
  ready.add(4).add(90);
  loop.turn();
  loop.turn();
  expect(calls).toEqual([4, 90, 4, 90]);
});

test('does not call back for a descriptor that was closed in the same turn, nor for its successor', () => {
  const { loop, ready } = loopOf();
  const calls: string[] = [];
  loop.watch(3, () => {
    calls.push('first');
    second.stop();
    loop.watch(4, () => calls.push('successor'));
  });
  const second = loop.watch(4, () => calls.push('second'));
  ready.add(3).add(4);
  loop.turn();
  expect(calls).toEqual(['first']);
});

test('waits for ever without anything to do at a time, else until the earliest', async () => {
  const { loop, waitsMs, clock } = loopOf();
  loop.turn();
  const abort = new AbortController();
  const late = loop.sleep(500, abort.signal).catch(() => undefined);
  void loop.sleep(700, never);
  loop.turn();
  loop.addChore({ dueMs: () => clock.steadyMs() + 20.5, act: () => undefined });
  loop.addChore({ dueMs: () => undefined, act: () => undefined });
  loop.turn();
  expect(waitsMs).toEqual([-1, 500, 21]);
  abort.abort();
  await late;
});

test('a sleep that was aborted wakes no sleeper', async () => {
  const { loop, waitsMs } = loopOf();
  const abort = new AbortController();
  const sleep = loop.sleep(500, abort.signal).catch(() => undefined);
  abort.abort();
  await sleep;
  loop.turn();
  expect(waitsMs).toEqual([-1]);
});

test('does what is due after the descriptors', () => {
  const { loop, ready, clock } = loopOf();
  const calls: string[] = [];
  loop.addChore({ dueMs: () => clock.steadyMs(), act: () => calls.push('due') });
  loop.addChore({ dueMs: () => clock.steadyMs() + 1, act: () => calls.push('not due') });
  loop.watch(3, () => calls.push('ready'));
  ready.add(3);
  loop.turn();
  expect(calls).toEqual(['ready', 'due']);
});

test('lets promises and immediates go on between two turns', async () => {
  const { loop, waitsMs } = loopOf();
  const stop = loop.start();
  await setImmediate();
  await setImmediate();
  stop();
  expect(waitsMs.length).toBeGreaterThan(1);
});
