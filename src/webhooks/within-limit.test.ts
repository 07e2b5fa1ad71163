import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { limitMsOf, withinLimit } from './within-limit.ts';

const never = new AbortController().signal;

test('the limit is a little below the time the caller waits', () => {
  expect([1_000, 2_000, 10_000, 30_000].map(limitMsOf)).toEqual([750, 1_500, 9_500, 29_500]);
});

test('a response in time is passed on and the timer ends', async () => {
  const clock = new FakeClock();
  expect(await withinLimit(clock, 1_000, never, async () => 'yes')).toEqual({
    type: 'answered',
    value: 'yes',
  });
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('when the time is up the work is aborted and not waited for', async () => {
  const clock = new FakeClock();
  let work: AbortSignal | undefined;
  const asked = withinLimit(clock, 1_000, never, (signal) => {
    work = signal;
    return Promise.withResolvers<string>().promise;
  });
  await clock.advance(999);
  expect(work?.aborted).toBe(false);
  await clock.advance(1);
  expect(await asked).toEqual({ type: 'late' });
  expect(work?.aborted).toBe(true);
});

test('failures are passed on; a caller who goes away ends the work', async () => {
  const clock = new FakeClock();
  await expect(withinLimit(clock, 1_000, never, () => Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  );
  const caller = new AbortController();
  let work: AbortSignal | undefined;
  const asked = withinLimit(clock, 1_000, caller.signal, (signal) => {
    work = signal;
    return Promise.withResolvers<string>().promise;
  });
  caller.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  expect(work?.aborted).toBe(true);
});
