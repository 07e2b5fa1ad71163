import { expect, test } from 'vitest';
import { readHookResult } from './load-flow-hooks.ts';

test.each([[undefined], [{}], [{ abortReconcile: true, requeue: false, requeueAfterMs: 1.5 }]])(
  '%j is a result',
  (value) => {
    expect(readHookResult(value, 'f.ts')).toEqual(value);
  },
);

test.each([
  [5, 'a number'],
  [[], 'a list'],
  ['abort', 'a string'],
  [{ abort: true }, 'an object with the unknown key abort'],
  [{ abortReconcile: 'yes' }, '"yes" for abortReconcile'],
  [{ requeue: 1 }, '1 for requeue'],
  [{ requeueAfterMs: -1 }, '-1 for requeueAfterMs'],
  [{ requeueAfterMs: '10m' }, '"10m" for requeueAfterMs'],
])('%j is none', (value, words) => {
  expect(() => readHookResult(value, 'f.ts')).toThrow(
    `The flow hook in f.ts returned ${words}; expected {abortReconcile?: boolean, requeue?: boolean, requeueAfterMs?: number}, or nothing`,
  );
});
