import { expect, test } from 'vitest';
import { PermanentError, runOutcomeOf, TemporaryError } from './run-outcomes.ts';

test('a TemporaryError says why and when to repeat the run', () => {
  const error = new TemporaryError('waiting for DNS', { after: '1m30s' });
  expect(runOutcomeOf(error)).toEqual({ type: 'temporary', reason: 'waiting for DNS', after: '1m30s' });
  expect(runOutcomeOf(new TemporaryError('not yet'))).toMatchObject({ after: undefined });
});

test('a PermanentError keeps its cause', () => {
  const cause = new Error('403');
  const error = new PermanentError('the token is revoked', { cause });
  expect(runOutcomeOf(error)).toEqual({ type: 'permanent', reason: 'the token is revoked' });
  expect(error.cause).toBe(cause);
});

test.each([new Error('no route to host'), 'temporary', undefined, { name: 'TemporaryError' }])(
  'other errors say nothing about the run: %s',
  (thrown) => expect(runOutcomeOf(thrown)).toBeUndefined(),
);

test.each(['soon', '', '5', '-1s'])('a TemporaryError refuses %j as a time', (after) => {
  expect(() => new TemporaryError('not yet', { after })).toThrow(
    'is not a duration such as "30s" or "1h30m"',
  );
});
