import { expect, test } from 'vitest';
import { FailedRuns } from './failed-runs.ts';

const kept = (runs: FailedRuns): string => runs.all.map(({ hook }) => hook).join('');
const add = (runs: FailedRuns, names: string, length = 10): void => {
  for (const hook of names) runs.add({ hook, recording: 'x'.repeat(length) });
};

test('the last runs are kept, the oldest first', () => {
  const runs = new FailedRuns(3, 1_000);
  add(runs, 'abcde');
  expect(kept(runs)).toBe('cde');
});

test('the oldest runs go when all of them would take too many bytes, and one that alone does is not kept', () => {
  const runs = new FailedRuns(3, 100);
  add(runs, 'abc');
  add(runs, 'd', 40);
  expect(kept(runs)).toBe('cd');
  add(runs, 'e', 51);
  expect(kept(runs)).toBe('');
  add(runs, 'f');
  expect(kept(runs)).toBe('f');
});

test('none is kept with the number 0', () => {
  const runs = new FailedRuns(0, 100);
  expect(runs.isOn).toBe(false);
  add(runs, 'a');
  expect(kept(runs)).toBe('');
});
