import { expect, test } from 'vitest';
import { createLedger, createWatchedFlag, mayStopWatching, WorkLedger } from './memory-watch.ts';

function lab() {
  const watched = createWatchedFlag();
  const [one, two] = [createLedger(watched), createLedger(watched)].map((buffers) => ({
    inWorker: new WorkLedger(buffers),
    inMain: new WorkLedger(buffers),
  }));
  if (one === undefined || two === undefined) throw new Error('two ledgers were made');
  return { watched, one, two };
}

test('the main thread sees what a worker notes down', () => {
  const { one } = lab();
  one.inWorker.begin();
  expect([one.inMain.isBusy, one.inMain.usedBytes]).toEqual([true, 0]);
  one.inWorker.end(3 * 1_024 - 1);
  expect([one.inMain.isBusy, one.inMain.usedBytes]).toEqual([false, 3 * 1_024]);
});

test('only the first worker to begin requests to be watched, until watching has stopped', () => {
  const { watched, one, two } = lab();
  expect([one.inWorker.begin(), two.inWorker.begin()]).toEqual([true, false]);
  one.inWorker.end(0);
  two.inWorker.end(0);
  expect(mayStopWatching(watched, [one.inMain, two.inMain])).toBe(true);
  expect(two.inWorker.begin()).toBe(true);
});

test('watching goes on when a worker has begun that believed itself watched', () => {
  const { watched, one, two } = lab();
  one.inWorker.begin();
  one.inWorker.end(0);
  expect(two.inWorker.begin()).toBe(false);
  expect(mayStopWatching(watched, [one.inMain, two.inMain])).toBe(false);
  expect(one.inWorker.begin()).toBe(false);
});
