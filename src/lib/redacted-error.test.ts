import { expect, test } from 'vitest';
import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from './errors.ts';
import { redactedError } from './redacted-error.ts';
import { Redactor } from './redactor.ts';

const SECRET = 'hunter22';

function redactorOf(secret: string): Redactor {
  const redactor = new Redactor();
  redactor.add(secret);
  return redactor;
}

test('redactedError() gives an error that tells no secret and is treated as the one it stands for', () => {
  const facts = { exitCode: 3 };
  const error = new OperatorError('HOOK_FAILED', `the password ${SECRET} is wrong`, {
    facts,
    isPermanent: true,
    retryAfterMs: 5_000,
  });
  const redacted = redactedError(error, redactorOf(SECRET));
  expect(messageOf(redacted)).toBe('the password *** is wrong');
  expect(redacted).toMatchObject({ code: 'HOOK_FAILED' });
  expect([factsOf(redacted), isPermanent(redacted), retryAfterOf(redacted)]).toEqual([facts, true, 5_000]);
  expect(redactedError(error, redactorOf('another'))).toBe(error);
});
