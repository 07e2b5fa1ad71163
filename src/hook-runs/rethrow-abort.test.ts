import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { rethrowAbort } from './rethrow-abort.ts';

test('rethrowAbort() throws the reason of an aborted task', () => {
  const signal = AbortSignal.abort(new Error('stop'));
  expect(() => rethrowAbort(new Error('cut off'), signal)).toThrow('stop');
});

test('rethrowAbort() throws the refusal to start a process during a stop', () => {
  const refusal = new OperatorError('ABORTED', 'not started');
  expect(() => rethrowAbort(refusal, new AbortController().signal)).toThrow(refusal);
});

test('rethrowAbort() finds that refusal also below what was made of it', () => {
  const cause = new OperatorError('ABORTED', 'not started');
  const wrapped = new OperatorError('DISCOVERY_FAILED', 'cannot run the script', { cause });
  expect(() => rethrowAbort(wrapped, new AbortController().signal)).toThrow(wrapped);
});

test('rethrowAbort() lets failures of the task pass', () => {
  const failure = new OperatorError('HOOK_FAILED', 'exit status 1');
  expect(() => rethrowAbort(failure, new AbortController().signal)).not.toThrow();
});
