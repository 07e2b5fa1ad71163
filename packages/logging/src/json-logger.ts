// The logger of the daemon: one JSON object per line. Records are written by string concatenation, and the
// fields of a child logger are serialized once for all of its records. `createLogger` is called once at
// start; `redacted-log.ts` masks secrets before records arrive here, and `observe-log.ts` copies them for the
// API. A value that cannot be serialized is replaced, so that logging never throws.

import type { Clock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { OperatorError } from '@addon-operator/base/errors';
import { DerivedLogger, type LogFields, type Logger, loggerOf } from '@addon-operator/base/log';
import { isObject, parseJson } from '@addon-operator/json';
import { escapeControls } from '@addon-operator/strings/escape-controls';
import { rfc3339 } from '@addon-operator/strings/rfc3339';
import { sourcePlaces } from './source-places.ts';

const MS_PER_SECOND = 1_000;

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
  /** Where built code lies, whose places in stack traces are shown as those in its sources. Default: none is built. */
  readonly builtCode?: string | undefined;
}

/** The root logger of the process. */
export interface RootLogger extends Logger {
  readonly level: LogLevel;
  /** Takes effect at once, for all children too. */
  setLevel(level: LogLevel): void;
}

/** A root logger that logs through `log` and has the level of `levels`. */
export function rootOf(log: Logger, levels: Pick<RootLogger, 'level' | 'setLevel'>): RootLogger {
  return new DerivedRoot(log, levels);
}

/** A root whose records go through another logger, and whose level is that of the original root. */
class DerivedRoot extends DerivedLogger implements RootLogger {
  readonly #levels: Pick<RootLogger, 'level' | 'setLevel'>;

  constructor(log: Logger, levels: Pick<RootLogger, 'level' | 'setLevel'>) {
    super(
      (level, fields, message) => log[level](fields, message),
      (fields) => log.child(fields),
    );
    this.#levels = levels;
  }

  get level(): LogLevel {
    return this.#levels.level;
  }

  setLevel(level: LogLevel): void {
    this.#levels.setLevel(level);
  }
}

/** The state that all loggers of one root share. */
interface Target {
  level: LogLevel;
  readonly write: (line: string) => void;
  /** The member of a record with its time, from a comma on; empty where records have none. */
  readonly time: () => string;
  readonly builtCode: string | undefined;
  /** The place of each stack frame seen so far: as many as there are calls that log. */
  readonly callers: Map<string, string | undefined>;
}

/** Levels in order; a record below the level of the target is dropped. */
const SEVERITY: Readonly<Record<LogLevel, number>> = {
  trace: 0,
  debug: 1,
  info: 2,
  warn: 3,
  error: 4,
  fatal: 5,
};

/**
 * A logger that writes one line per record, also when fields contain line ends; at level debug or below with `source`, the file and
 * line that made it, unless a field has that name. A value that is an Error is written as its message
 * and those of its causes; under `error`, an OperatorError also gives its `code`, any other its `stacktrace`. A value that
 * JSON cannot hold is written as `cannot be shown`.
 */
export function createLogger({ level, type, hasTime, clock, output, builtCode }: LoggerOptions): RootLogger {
  const target: Target = {
    level,
    write: (line) => output.write(type === 'json' ? line : formatLogLine(line, type === 'color')),
    time: hasTime ? timesOf(clock) : () => '',
    builtCode,
    callers: new Map(),
  };
  return rootOf(childOf(target, {}), {
    get level() {
      return target.level;
    },
    setLevel(next) {
      target.level = next;
    },
  });
}

/** Many records are made in one second. */
function timesOf(clock: Clock): () => string {
  let second = Number.NaN;
  let member = '';
  return () => {
    const nowMs = clock.wallMs();
    const now = Math.floor(nowMs / MS_PER_SECOND);
    if (now !== second) member = `,"time":"${rfc3339(nowMs)}"`;
    second = now;
    return member;
  };
}

/** A logger whose records have these fields. */
function childOf(target: Target, bound: LogFields): Logger {
  // All records of a child have its fields: they are written as JSON once.
  let boundMembers: string | undefined;
  return loggerOf(
    (level, fields, message) => {
      const severity = SEVERITY[target.level];
      if (SEVERITY[level] < severity) return;
      const isDetailed = severity <= SEVERITY.debug;
      let members: string;
      if (isDetailed || 'error' in bound || 'error' in fields || overlap(bound, fields)) {
        const all = { ...bound, ...fields };
        members = membersOf(all) + derivedMembers(all, isDetailed, target);
      } else {
        boundMembers ??= membersOf(bound);
        members = boundMembers + membersOf(fields);
      }
      target.write(`{"level":"${level}"${target.time()}${members},"msg":${JSON.stringify(message)}}\n`);
    },
    (fields) => childOf(target, { ...bound, ...fields }),
  );
}

/**
 * Whether a field of the record replaces one of the child: then both cannot be written one after the other.
 */
function overlap(bound: LogFields, fields: LogFields): boolean {
  for (const name of Object.keys(fields)) if (Object.hasOwn(bound, name)) return true;
  return false;
}

/** Names that the record itself uses: a field of that name gets an underscore. */
const RESERVED: ReadonlySet<string> = new Set(['level', 'msg', 'time', 'stacktrace']);

/** The members of a JSON object, with a comma before each. */
function membersOf(fields: LogFields): string {
  let members = '';
  for (const name of Object.keys(fields)) {
    const json = jsonOf(fields[name]);
    if (json === undefined) continue;
    members += `,${JSON.stringify(RESERVED.has(name) ? `${name}_` : name)}:${json}`;
  }
  return members;
}

/** Undefined for what has no place in JSON, such as a function. */
function jsonOf(value: unknown): string | undefined {
  if (value instanceof Error) return JSON.stringify(errorText(value));
  if (typeof value === 'bigint') return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return '"cannot be shown"';
  }
}

/** Members derived from an error, and from the place of the log call; a field of the same name wins. */
function derivedMembers(fields: LogFields, hasSource: boolean, target: Target): string {
  const { error } = fields;
  let members = '';
  if (error instanceof OperatorError) {
    if (fields['code'] === undefined) members += `,"code":${JSON.stringify(error.code)}`;
  } else if (error instanceof Error) members += `,"stacktrace":${JSON.stringify(framesOf(error, target))}`;
  if (hasSource && fields['source'] === undefined)
    members += `,"source":${JSON.stringify(callerOf(new Error().stack ?? '', target))}`;
  return members;
}

/** The files that a record passes on its way from who makes it. */
const LOG_FILE = /(?:^|\/)(?:log|json-logger|redacted-log|observe-log)\.[jt]s:/;

/** Where a record was made: folder, file and line of the first frame outside of these files; empty where there is none. */
function callerOf(stack: string, { callers, builtCode }: Target): string {
  for (const frame of stack.split('\n').slice(1)) {
    if (!callers.has(frame)) callers.set(frame, callerIn(sourcePlaces(frame, builtCode)));
    const caller = callers.get(frame);
    if (caller !== undefined) return caller;
  }
  return '';
}

/** The place in a frame, with its folder; undefined for frames of the logging code itself. */
function callerIn(frame: string): string | undefined {
  return LOG_FILE.test(frame) ? undefined : /([^/\s(]+\/)?[^/\s(]+:\d+(?=:\d+\)?$)/.exec(frame)?.[0];
}

/** The frames of a stack, without the message. */
function framesOf(error: Error, { builtCode }: Target): string[] {
  const lines = sourcePlaces(error.stack ?? '', builtCode)
    .split('\n')
    .map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at '));
}

const RESET = '\u001b[0m';
const DIM = '\u001b[2m';
const LEVEL_COLORS: Readonly<Record<string, string>> = {
  trace: '\u001b[90m',
  debug: '\u001b[36m',
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[35m',
};

/** A value that is unambiguous without quotes. */
const PLAIN_VALUE = /^[^\s"'=\\\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+$/u;

/**
 * A JSON log record as a line for people: time, level, logger, message, then `name=value` pairs sorted by name. Control
 * characters are escaped, so that a record is one line and changes nothing in a terminal.
 *
 * @param line one record as JSON, with or without a line end
 */
export function formatLogLine(line: string, hasColor: boolean): string {
  const record = parseJson(line);
  if (!isObject(record)) return `${escapeControls(line.trim())}\n`;
  const { level, time, logger, msg, ...fields } = record;
  const paint = (color: string, text: string): string => (hasColor ? `${color}${text}${RESET}` : text);
  const word = typeof level === 'string' ? level : '';
  const parts = [paint(LEVEL_COLORS[word] ?? '', word.toUpperCase().padEnd(5))];
  if (typeof time === 'string') parts.unshift(paint(DIM, time));
  if (typeof logger === 'string') parts.push(paint(DIM, `[${escapeControls(logger)}]`));
  if (typeof msg === 'string') parts.push(escapeControls(msg));
  for (const name of Object.keys(fields).toSorted())
    parts.push(`${paint(DIM, `${escapeControls(name)}=`)}${valueText(fields[name])}`);
  return `${parts.join(' ')}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (typeof value !== 'string' || PLAIN_VALUE.test(text)) return escapeControls(text);
  return escapeControls(JSON.stringify(text));
}
