import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { MemoryWatch } from './memory-watch.ts';

const MIB = 1024 * 1024;

function lab(busy: Set<number>) {
  const clock = new FakeClock();
  const over: number[] = [];
  const used = { mib: 40 };
  const watch = new MemoryWatch({
    heapLimitBytes: 100 * MIB,
    busy,
    clock,
    usedBytes: () => used.mib * MIB,
    onOverLimit: (bytes) => over.push(bytes / MIB),
  });
  return { clock, over, used, watch };
}

test('a worker at work may use a heap and as much again for buffers, beyond the base', async () => {
  const { clock, over, used, watch } = lab(new Set([1]));
  watch.watch();
  used.mib = 40 + 16 + 200;
  await clock.advance(50);
  expect(over).toEqual([]);
  used.mib += 1;
  await clock.advance(50);
  expect(over).toEqual([257]);
});

test('what workers had after their last run counts against nobody', async () => {
  const { clock, over, used, watch } = lab(new Set([3]));
  watch.note(1, 90 * MIB);
  watch.note(2, 90 * MIB);
  watch.watch();
  used.mib = 40 + 180 + 3 * 16 + 200;
  await clock.advance(50);
  expect(over).toEqual([]);
  watch.forget(1);
  await clock.advance(50);
  expect(over).toHaveLength(1);
});

test('nothing is looked at while nobody is at work', async () => {
  const busy = new Set([1]);
  const { clock, over, used, watch } = lab(busy);
  watch.watch();
  busy.delete(1);
  used.mib = 1_000;
  await clock.advance(500);
  expect(over).toEqual([]);
  busy.add(1);
  watch.watch();
  expect(over).toEqual([1_000]);
});
