import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { refusal } from '../../../../test/support/fake-kube-api.ts';
import { isConflict, retryLost } from './patch-context.ts';

const never = new AbortController().signal;

test('retryLost() repeats after growing delays and gives the first value', async () => {
  const clock = new FakeClock();
  let attempts = 0;
  const retrying = retryLost({ clock, random: () => 0.5 }, never, async () => {
    attempts += 1;
    return attempts === 3 ? { type: 'done', value: 'won' } : { type: 'lost', error: new Error('lost') };
  });
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([10.5]);
  await clock.advance(10.5);
  expect(clock.pendingDelaysMs).toEqual([52.5]);
  await clock.advance(52.5);
  expect(await retrying).toBe('won');
});

test('retryLost() throws the last error after six attempts', async () => {
  const clock = new FakeClock();
  let attempts = 0;
  const retrying = retryLost({ clock, random: () => 0 }, never, async () => {
    attempts += 1;
    return { type: 'lost', error: new Error(`lost ${attempts}`) };
  });
  retrying.catch(() => undefined);
  await clock.untilAsleep();
  await clock.advance(10_000);
  await expect(retrying).rejects.toThrow('lost 6');
});

test('retryLost() ends at once on what the attempt throws, and on abort', async () => {
  const clock = new FakeClock();
  const deps = { clock, random: () => 0 };
  await expect(retryLost(deps, never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  const controller = new AbortController();
  const waiting = retryLost(deps, controller.signal, async () => ({
    type: 'lost',
    error: new Error('lost'),
  }));
  waiting.catch(() => undefined);
  await clock.untilAsleep();
  controller.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

test('isConflict() is for a lost race alone, not for an object that exists', () => {
  expect(isConflict(refusal(409, 'Conflict'))).toBe(true);
  expect(isConflict(refusal(409, 'AlreadyExists'))).toBe(false);
  expect(isConflict(refusal(403, 'Forbidden'))).toBe(false);
});
