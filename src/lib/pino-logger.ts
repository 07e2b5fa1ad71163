import type { Clock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { OperatorError } from '@addon-operator/base/errors';
import { type LogFields, type Logger, loggerOf } from '@addon-operator/base/log';
import { formatLogLine } from '@addon-operator/base/log-text';
import { rfc3339 } from '@addon-operator/base/rfc3339';
import { pino } from 'pino';
import { sourcePlaces } from './source-places.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Where complete records go, each one line with its line end. */
export interface LogOutput {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** `json`: one object a line; `text`: for people; `color`: text for a terminal. */
  readonly type: 'json' | 'text' | 'color';
  readonly hasTime: boolean;
  readonly clock: Clock;
  readonly output: LogOutput;
}

/** The root logger of the process. */
export interface RootLogger extends Logger {
  readonly level: LogLevel;
  /** Takes effect at once, for all children too. */
  setLevel(level: LogLevel): void;
}

type PinoLogger = ReturnType<typeof createPino>;

/**
 * A logger that writes one line per record, also when fields contain line ends; at level debug or below with `source`, the file and
 * line that made it, unless a field has that name. A value that is an Error is written as its message
 * and those of its causes; under `error`, an OperatorError also gives its `code`, any other its `stacktrace`.
 */
export function createLogger(options: LoggerOptions): RootLogger {
  const target = createPino(options);
  return {
    ...childOf(target, {}),
    get level() {
      return target.level as LogLevel; // only setLevel() and the options set it
    },
    setLevel(level) {
      target.level = level;
    },
  };
}

function createPino({ level, type, hasTime, clock, output }: LoggerOptions) {
  const stream: LogOutput =
    type === 'json' ? output : { write: (line) => output.write(formatLogLine(line, type === 'color')) };
  return pino(
    {
      level,
      base: null,
      timestamp: hasTime && (() => `,"time":"${rfc3339(clock.wallMs())}"`),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

function childOf(target: PinoLogger, bound: LogFields): Logger {
  return loggerOf(
    (level, fields, message) => {
      if (!target.isLevelEnabled(level)) return;
      const record = recordOf({ ...bound, ...fields });
      if (target.isLevelEnabled('debug')) record['source'] ??= callerOf(new Error().stack ?? '');
      target[level](record, message);
    },
    (fields) => childOf(target, { ...bound, ...fields }),
  );
}

/** Names that the record itself uses: a field of that name gets an underscore. */
const RESERVED: ReadonlySet<string> = new Set(['level', 'msg', 'time', 'stacktrace']);

function recordOf(fields: LogFields): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(fields))
    record[RESERVED.has(name) ? `${name}_` : name] = value instanceof Error ? errorText(value) : value;
  const { error } = fields;
  if (error instanceof OperatorError) record['code'] ??= error.code;
  else if (error instanceof Error) record['stacktrace'] = framesOf(error);
  return record;
}

/** The files that a record passes on its way from who makes it. */
const LOG_FILE = /(?:^|\/)(?:log|pino-logger|redacted-log|observe-log)\.[jt]s:/;

/** What each frame met so far says: as many as there are calls that log. */
const callers = new Map<string, string | undefined>();

/** Where a record was made: folder, file and line of the first frame outside of these files; empty where there is none. */
function callerOf(stack: string): string {
  for (const frame of stack.split('\n').slice(1)) {
    if (!callers.has(frame)) callers.set(frame, callerIn(sourcePlaces(frame)));
    const caller = callers.get(frame);
    if (caller !== undefined) return caller;
  }
  return '';
}

function callerIn(frame: string): string | undefined {
  return LOG_FILE.test(frame) ? undefined : /([^/\s(]+\/)?[^/\s(]+:\d+(?=:\d+\)?$)/.exec(frame)?.[0];
}

function framesOf(error: Error): string[] {
  const lines = sourcePlaces(error.stack ?? '')
    .split('\n')
    .map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at '));
}
