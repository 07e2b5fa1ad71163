import { expect, test } from 'vitest';
import { errorText } from './error-text.ts';
import { OperatorError } from './errors.ts';

test('errorText() joins the messages of an error and its causes', () => {
  const root = new Error('connection refused');
  const middle = new Error('request failed', { cause: root });
  expect(errorText(new OperatorError('KUBE_API', 'Cannot list pods', { cause: middle }))).toBe(
    'Cannot list pods: request failed: connection refused',
  );
});

test('errorText() does not repeat a cause that is quoted', () => {
  expect(errorText(new Error('Cannot read: EACCES', { cause: new Error('EACCES') }))).toBe(
    'Cannot read: EACCES',
  );
});

test('errorText() ends on a cycle of causes', () => {
  const error = new Error('round');
  error.cause = error;
  expect(errorText(error)).toBe('round');
});

test('errorText() names what was collected', () => {
  expect(errorText(new AggregateError([new Error('a'), 'b'], 'two failed'))).toBe('two failed (Error: a; b)');
});

test.each([
  ['text', 'text'],
  [undefined, 'undefined'],
  [new TypeError(), 'TypeError'],
])('errorText() takes anything that was thrown: %s', (thrown, expected) => {
  expect(errorText(thrown)).toBe(expected);
});
