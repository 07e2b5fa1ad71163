import { expect, test } from 'vitest';
import { errorFields, factsOf, OperatorError } from './errors.ts';

test('an error that adds words to another one keeps its facts, unless it has some of its own', () => {
  const cause = new OperatorError('HOOK_FAILED', 'no luck', { facts: { exitCode: 3 } });
  expect(factsOf(new OperatorError('HOOK_FAILED', 'run hooks: no luck', { cause }))).toEqual({ exitCode: 3 });
  const other = new OperatorError('HOOK_FAILED', 'killed', { cause, facts: { signal: 'SIGKILL' } });
  expect(factsOf(other)).toEqual({ signal: 'SIGKILL' });
  expect(factsOf(new Error('any'))).toEqual({});
});

test('errorFields() gives the message, the code and the facts of an error, and of others the message alone', () => {
  const error = new OperatorError('HOOK_FAILED', 'no luck', { facts: { exitCode: 3 } });
  expect(errorFields(error)).toEqual({ error: 'no luck', code: 'HOOK_FAILED', exitCode: 3 });
  expect(errorFields(new Error('any'))).toEqual({ error: 'any' });
});

test('an OperatorError keeps both ends of a message that is too long', () => {
  const { message } = new OperatorError('INTERNAL', `Cannot do it: ${'x'.repeat(1_000_000)} at the end`);
  expect(message).toHaveLength(16_384);
  expect(message).toMatch(/^Cannot do it: x+…x+ at the end$/);
});
