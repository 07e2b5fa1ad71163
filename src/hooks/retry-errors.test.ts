import { OperatorError, retryAfterOf } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { Hook } from './hook.ts';
import {
  isFinal,
  isNotYet,
  parseRetryFile,
  permanentError,
  retryAfterHeaderMs,
  temporaryError,
} from './retry-errors.ts';

const HOOK: Hook = {
  name: 'a.sh',
  path: '/a.sh',
  transport: 'executable',
  owner: { type: 'global' },
  config: NO_BINDINGS,
};

test.each([
  [undefined, 10_000],
  [30_000, 30_000],
  [5, 1_000],
  [86_400_000, 3_600_000],
])('a run that is to be repeated after %s ms is repeated after %s ms', (afterMs, expected) => {
  const error = temporaryError(HOOK, { afterMs, reason: 'waiting for DNS' });
  expect(retryAfterOf(error)).toBe(expected);
  expect(error.message).toBe("global hook 'a.sh' is not done yet: waiting for DNS");
  expect([isNotYet(error), isFinal(error)]).toEqual([true, false]);
});

test('other errors that request a wait or are permanent are not those of a hook', () => {
  const permanent = permanentError(HOOK, 'no such zone', { exitCode: 78 });
  expect([isNotYet(permanent), isFinal(permanent), permanent.isPermanent]).toEqual([false, true, true]);
  const other = new OperatorError('RELEASE_BLOCKED', 'wait', { retryAfterMs: 1, isPermanent: true });
  expect([isNotYet(other), isFinal(other)]).toEqual([false, false]);
});

test.each([
  ['', {}],
  [' \n', {}],
  ['{}', {}],
  ['{"after": "1m30s"}', { afterMs: 90_000 }],
  ['{"reason": "waiting for DNS"}', { reason: 'waiting for DNS' }],
])('parseRetryFile() reads %j', (text, expected) => expect(parseRetryFile(text)).toEqual(expected));

test.each([
  ['30s', 'it is not JSON'],
  ['[]', 'it is not a JSON object'],
  ['{"after": 30}', 'after is not a string such as "30s"'],
  ['{"after": "soon"}', "after: 'soon' is not a duration"],
  ['{"after": "-1s"}', "after: '-1s' is not a duration"],
  ['{"reason": 1}', 'reason is not a string'],
  ['{"when": "30s"}', 'unknown field "when"; known: after, reason'],
])('parseRetryFile() refuses %j', (text, problem) => {
  expect(() => parseRetryFile(text)).toThrow(problem);
});

test.each([
  [undefined, undefined],
  ['120', 120_000],
  [' 0 ', 0],
  ['Fri, 01 May 2026 10:00:30 GMT', 30_000],
  ['Fri, 01 May 2026 09:00:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
])('Retry-After %j means %s ms', (value, expected) => {
  expect(retryAfterHeaderMs(value, Date.parse('2026-05-01T10:00:00Z'))).toBe(expected);
});
