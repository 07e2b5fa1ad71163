import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { MemoryWatch, type WatchedWorker } from './memory-watch.ts';

const MIB = 1024 * 1024;
const BUSY: WatchedWorker = { isBusy: true, usedBytes: 0 };
const IDLE: WatchedWorker = { isBusy: false, usedBytes: 90 * MIB };

function lab(...first: readonly WatchedWorker[]) {
  const clock = new FakeClock();
  const over: number[] = [];
  const used = { mib: 40 };
  const workers = [...first];
  const may = { stop: true };
  const watch = new MemoryWatch({
    heapLimitBytes: 100 * MIB,
    workers: () => workers,
    clock,
    usedBytes: () => used.mib * MIB,
    onOverLimit: (bytes) => over.push(bytes / MIB),
    mayStop: () => may.stop,
  });
  return { clock, over, used, watch, workers, may };
}

test('a running worker may use a heap and as much again for buffers, beyond the base', async () => {
  const { clock, over, used, watch } = lab(BUSY);
  watch.watch();
  used.mib = 40 + 16 + 200;
  await clock.advance(50);
  expect(over).toEqual([]);
  used.mib += 1;
  await clock.advance(50);
  expect(over).toEqual([257]);
});

test('memory that workers kept after their last run counts against no run', async () => {
  const { clock, over, used, watch, workers } = lab(BUSY, IDLE, IDLE);
  watch.watch();
  used.mib = 40 + 180 + 3 * 16 + 200;
  await clock.advance(50);
  expect(over).toEqual([]);
  workers.pop();
  await clock.advance(50);
  expect(over).toHaveLength(1);
});

test('memory is not measured while no worker runs', async () => {
  const { clock, over, used, watch, workers } = lab(BUSY);
  watch.watch();
  workers.splice(0);
  used.mib = 1_000;
  await clock.advance(500);
  expect(over).toEqual([]);
  workers.push(BUSY);
  watch.watch();
  expect(over).toEqual([1_000]);
});

test('it goes on looking as long as it may not stop', async () => {
  const { clock, over, used, watch, workers, may } = lab(BUSY);
  watch.watch();
  workers.splice(0, 1, { isBusy: false, usedBytes: 0 });
  may.stop = false;
  used.mib = 1_000;
  await clock.advance(50);
  expect(over).toEqual([1_000]);
  may.stop = true;
  await clock.advance(500);
  expect(over).toEqual([1_000]);
});
