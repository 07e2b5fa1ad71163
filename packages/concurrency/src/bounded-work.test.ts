import { getEventListeners } from 'node:events';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { mapParallel, runInPlace } from './bounded-work.ts';

const never = new AbortController().signal;

test('results are in the order of the items, not in that of their ends', async () => {
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const results = mapParallel([0, 1], 2, async (index) => gates[index]?.promise);
  gates[1]?.resolve('second');
  gates[0]?.resolve('first');
  expect(await results).toEqual(['first', 'second']);
});

test('no more calls than the limit are under way at once', async () => {
  let running = 0;
  let most = 0;
  await mapParallel([1, 2, 3, 4, 5], 2, async () => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
  });
  expect(most).toBe(2);
});

test('of several failures that of the first item is thrown, when the calls under way are over', async () => {
  const ended: number[] = [];
  const gate = Promise.withResolvers<void>();
  const results = mapParallel([0, 1, 2, 3, 4], 3, async (index) => {
    if (index === 0) await gate.promise;
    ended.push(index);
    if (index < 2) throw new Error(`item ${index}`);
  });
  gate.resolve();
  await expect(results).rejects.toThrow('item 0');
  expect(ended).toEqual([1, 2, 0]);
});

test('without items nothing is called', async () => {
  expect(await mapParallel([], 2, async () => 1)).toEqual([]);
  expect(await mapParallel([], 0, async () => 1)).toEqual([]);
});

test('only so many go on at a time, in the order in which they came', async () => {
  const places = new PQueue({ concurrency: 2 });
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const log: string[] = [];
  const all = ends.map(({ promise }, index) =>
    runInPlace(
      places,
      async () => {
        log.push(`start ${index}`);
        await promise;
        log.push(`end ${index}`);
      },
      never,
    ),
  );
  for (const index of [1, 0, 3, 2]) {
    ends[index]?.resolve();
    await all[index];
  }
  expect(log).toEqual(['start 0', 'start 1', 'end 1', 'start 2', 'end 0', 'start 3', 'end 3', 'end 2']);
});

test('one that fails makes room, and its failure is its own', async () => {
  const places = new PQueue({ concurrency: 1 });
  const failing = runInPlace(places, () => Promise.reject(new Error('no luck')), never);
  const next = runInPlace(places, async () => 'well', never);
  await expect(failing).rejects.toThrow('no luck');
  expect(await next).toBe('well');
  expect(await runInPlace(places, async () => 'again', never)).toBe('again');
});

test('runInPlace() rejects and leaves the queue, when its signal aborts before there is a place', async () => {
  const places = new PQueue({ concurrency: 1 });
  const end = Promise.withResolvers<void>();
  const first = runInPlace(places, () => end.promise, never);
  const abort = new AbortController();
  const second = runInPlace(places, async () => 'second', abort.signal);
  const third = runInPlace(places, async () => 'third', never);
  const reason = new Error('too late');
  abort.abort(reason);
  await expect(second).rejects.toBe(reason);
  await expect(runInPlace(places, async () => 'fourth', abort.signal)).rejects.toBe(reason);
  end.resolve();
  await first;
  expect(await third).toBe('third');
  expect(await runInPlace(places, async () => 'free', never)).toBe('free');
});

test('a place that is passed on is not free for a later caller', async () => {
  const places = new PQueue({ concurrency: 1 });
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  let running = 0;
  const act = (index: number) =>
    runInPlace(
      places,
      async () => {
        running += 1;
        expect(running).toBe(1);
        await ends[index]?.promise;
        running -= 1;
      },
      never,
    );
  const [first, second] = [act(0), act(1)];
  ends[0]?.resolve();
  await first;
  const third = act(2);
  ends[2]?.resolve();
  ends[1]?.resolve();
  await Promise.all([second, third]);
});

test('an abort after a place was given takes no other caller out of the queue', async () => {
  const places = new PQueue({ concurrency: 1 });
  const [end, endSecond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const abort = new AbortController();
  const first = runInPlace(places, () => end.promise, never);
  const second = runInPlace(places, () => endSecond.promise, abort.signal);
  const third = runInPlace(places, async () => 'third', never);
  end.resolve();
  await first;
  abort.abort();
  endSecond.resolve();
  await second;
  expect(await Promise.race([third, runInPlace(places, async () => 'later', never)])).toBe('third');
});

test('an act that is aborted keeps its place until it has ended', async () => {
  const places = new PQueue({ concurrency: 1 });
  const end = Promise.withResolvers<string>();
  const abort = new AbortController();
  const first = runInPlace(places, () => end.promise, abort.signal);
  const log: string[] = [];
  const second = runInPlace(places, async () => log.push('second'), never);
  abort.abort(new Error('the operator stops'));
  await settle();
  expect(log).toEqual([]);
  end.resolve('stopped');
  expect(await first).toBe('stopped');
  await second;
});

test('a signal has no listener left when the act has begun', async () => {
  const places = new PQueue({ concurrency: 1 });
  const { signal } = new AbortController();
  const end = Promise.withResolvers<void>();
  const first = runInPlace(places, () => end.promise, never);
  const second = runInPlace(places, async () => undefined, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  end.resolve();
  await Promise.all([first, second]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
