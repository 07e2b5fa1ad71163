import { expect, test } from 'vitest';
import { factsOf, OperatorError } from './errors.ts';

test('an error that adds words to another one keeps its facts, unless it has some of its own', () => {
  const cause = new OperatorError('HOOK_FAILED', 'no luck', { facts: { exitCode: 3 } });
  expect(factsOf(new OperatorError('HOOK_FAILED', 'run hooks: no luck', { cause }))).toEqual({ exitCode: 3 });
  const other = new OperatorError('HOOK_FAILED', 'killed', { cause, facts: { signal: 'SIGKILL' } });
  expect(factsOf(other)).toEqual({ signal: 'SIGKILL' });
  expect(factsOf(new Error('any'))).toEqual({});
});
