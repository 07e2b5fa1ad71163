import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { SharedResponses } from './shared-responses.ts';

const never = new AbortController().signal;

test('get() sends one request while the response is awaited, however long that takes, and for as long as it is fresh', async () => {
  const clock = new FakeClock();
  const replies = new SharedResponses<string>(clock, 5_000);
  const response = Promise.withResolvers<string>();
  let asked = 0;
  const read = async (): Promise<string> => {
    asked += 1;
    return await response.promise;
  };
  const both = [1, 2].map(async () => await replies.get('q', read, never));
  response.resolve('a');
  expect(await Promise.all(both)).toEqual(['a', 'a']);
  expect(replies.has('q')).toBe(true);
  await clock.advance(5_000);
  expect(replies.has('q')).toBe(false);
  await replies.get('q', read, never);
  expect(asked).toBe(2);
});

test('get() ends at once for a reader whose signal aborts, although another one goes on asking', async () => {
  const replies = new SharedResponses<string>(new FakeClock(), 5_000);
  const response = Promise.withResolvers<string>();
  const first = replies.get('q', () => response.promise, never);
  const stop = new AbortController();
  const second = replies.get('q', () => response.promise, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(second).rejects.toThrow('stopped');
  response.resolve('a');
  expect(await first).toBe('a');
});

test('a response is fresh for its time only, when the wall clock is set back', async () => {
  const clock = new FakeClock(1_000_000);
  const replies = new SharedResponses<string>(clock, 5_000);
  await replies.get('q', async () => 'a', never);
  clock.setWall(-1_000_000);
  await clock.advance(5_000);
  expect(replies.has('q')).toBe(false);
});
