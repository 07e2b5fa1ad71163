import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from './errors.ts';
import type { Redactor } from './redactor.ts';

/** The error itself, unless its message tells a secret: then one that says and means the same without it. */
export function redactedError(error: unknown, redactor: Pick<Redactor, 'text'>): unknown {
  const message = messageOf(error);
  const redacted = redactor.text(message);
  if (redacted === message) return error;
  return new OperatorError(error instanceof OperatorError ? error.code : 'INTERNAL', redacted, {
    facts: factsOf(error),
    isPermanent: isPermanent(error),
    retryAfterMs: retryAfterOf(error),
  });
}
