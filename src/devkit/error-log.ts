import { systemClock } from '@addon-operator/base/clock';
import { createLogger } from '@addon-operator/logging/json-logger';

/** Passes the messages of errors on, and drops all else. */
export function errorLog(onError: (text: string) => void): ReturnType<typeof createLogger> {
  return createLogger({
    level: 'error',
    type: 'text',
    hasTime: false,
    clock: systemClock,
    output: { write: (line) => onError(line.trimEnd()) },
  });
}
