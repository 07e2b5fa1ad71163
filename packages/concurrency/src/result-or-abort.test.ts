import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { resultOrAbort } from './result-or-abort.ts';

test('resultOrAbort() gives the result, and leaves no listener behind', async () => {
  const { signal } = new AbortController();
  await expect(resultOrAbort(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(resultOrAbort(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('resultOrAbort() waits no longer than until the abort', async () => {
  const stop = new AbortController();
  const never = new Promise<void>(() => undefined);
  const waiting = resultOrAbort(never, stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(resultOrAbort(never, stop.signal)).rejects.toThrow('enough');
});
