import { type LogFields, type Logger, loggerOf } from '@addon-operator/base/log';
import { type LogLevel, type RootLogger, rootOf } from './json-logger.ts';

/** One log record as it was made, with the fields of its child loggers. */
export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that also shows each record to `onRecord`: those below the level of the log too. */
export function observeLog(log: RootLogger, onRecord: (record: LogRecord) => void): RootLogger {
  return rootOf(observedChild(log, {}, onRecord), log);
}

function observedChild(log: Logger, bound: LogFields, onRecord: (record: LogRecord) => void): Logger {
  return loggerOf(
    (level, fields, message) => {
      log[level](fields, message);
      onRecord({ level, message, fields: { ...bound, ...fields } });
    },
    (fields) => observedChild(log.child(fields), { ...bound, ...fields }, onRecord),
  );
}
