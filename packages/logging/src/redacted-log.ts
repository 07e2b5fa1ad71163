import { errorText } from '@addon-operator/base/error-text';
import { codeOf } from '@addon-operator/base/errors';
import { type LogFields, type Logger, loggerOf } from '@addon-operator/base/log';
import { Redactor } from '@addon-operator/masking/redactor';
import { type RootLogger, rootOf } from './json-logger.ts';

/** A host with a log that shows nothing which the redactor knows. */
export function withRedactedLog<Host extends { readonly log: RootLogger }>(
  host: Host,
): { readonly host: Host; readonly redactor: Redactor } {
  const redactor = new Redactor();
  return { redactor, host: { ...host, log: redactedLog(host.log, redactor) } };
}

/** A logger in whose records, fields of children included, no secret known to the redactor appears. */
export function redactedLog(log: RootLogger, redactor: Redactor): RootLogger {
  return rootOf(redactedChild(log, redactor), log);
}

function redactedChild(log: Logger, redactor: Redactor): Logger {
  return loggerOf(
    (level, fields, message) => log[level](redactedFields(fields, redactor), redactor.text(message)),
    (fields) => redactedChild(log.child(redactedFields(fields, redactor)), redactor),
  );
}

function redactedFields(fields: LogFields, redactor: Redactor): LogFields {
  if (redactor.isEmpty) return fields;
  const pairs = Object.entries(fields).map(
    ([name, value]) => [name, redactedValue(value, redactor)] as const,
  );
  // An error whose message is redacted becomes a string, which has no code of its own.
  const code = codeOf(fields['error']);
  return { ...(code !== undefined && { code }), ...Object.fromEntries(pairs) };
}

/** An error is kept as it is, with its stack, unless it contains a secret. */
function redactedValue(value: unknown, redactor: Redactor): unknown {
  if (!(value instanceof Error)) return redactor.data(value);
  const text = errorText(value);
  const redacted = redactor.text(text);
  return redacted === text ? value : redacted;
}
