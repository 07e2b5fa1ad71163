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
