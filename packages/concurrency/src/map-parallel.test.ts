import { expect, test } from 'vitest';
import { mapParallel } from './map-parallel.ts';

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
});
