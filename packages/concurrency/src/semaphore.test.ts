import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

test('only so many go on at a time, in the order in which they came', async () => {
  const semaphore = new Semaphore(2);
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const log: string[] = [];
  const all = ends.map(({ promise }, index) =>
    semaphore.run(async () => {
      log.push(`start ${index}`);
      await promise;
      log.push(`end ${index}`);
    }),
  );
  for (const index of [1, 0, 3, 2]) {
    ends[index]?.resolve();
    await all[index];
  }
  expect(log).toEqual(['start 0', 'start 1', 'end 1', 'start 2', 'end 0', 'start 3', 'end 3', 'end 2']);
});

test('one that fails makes room, and its failure is its own', async () => {
  const semaphore = new Semaphore(1);
  const failing = semaphore.run(() => Promise.reject(new Error('no luck')));
  const next = semaphore.run(async () => 'well');
  await expect(failing).rejects.toThrow('no luck');
  expect(await next).toBe('well');
  expect(await semaphore.run(async () => 'again')).toBe('again');
});

test('run() rejects and leaves the queue, when its signal aborts before there is a place', async () => {
  const semaphore = new Semaphore(1);
  const end = Promise.withResolvers<void>();
  const first = semaphore.run(() => end.promise);
  const abort = new AbortController();
  const second = semaphore.run(async () => 'second', abort.signal);
  const third = semaphore.run(async () => 'third', new AbortController().signal);
  const reason = new Error('too late');
  abort.abort(reason);
  await expect(second).rejects.toBe(reason);
  await expect(semaphore.run(async () => 'fourth', abort.signal)).rejects.toBe(reason);
  end.resolve();
  await first;
  expect(await third).toBe('third');
  expect(await semaphore.run(async () => 'free')).toBe('free');
});

test('a place that is passed on is not free for a later caller', async () => {
  const semaphore = new Semaphore(1);
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  let running = 0;
  const act = (index: number) =>
    semaphore.run(async () => {
      running += 1;
      expect(running).toBe(1);
      await ends[index]?.promise;
      running -= 1;
    });
  const [first, second] = [act(0), act(1)];
  ends[0]?.resolve();
  await first;
  const third = act(2);
  ends[2]?.resolve();
  ends[1]?.resolve();
  await Promise.all([second, third]);
});

test('an abort after a place was given takes no other caller out of the queue', async () => {
  const semaphore = new Semaphore(1);
  const [end, endSecond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const abort = new AbortController();
  const first = semaphore.run(() => end.promise);
  const second = semaphore.run(() => endSecond.promise, abort.signal);
  const third = semaphore.run(async () => 'third');
  end.resolve();
  await first;
  abort.abort();
  endSecond.resolve();
  await second;
  expect(await Promise.race([third, semaphore.run(async () => 'later')])).toBe('third');
});
