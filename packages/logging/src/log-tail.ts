import type { Clock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import type { LogFields } from '@addon-operator/base/log';
import { rfc3339 } from '@addon-operator/strings/rfc3339';
import type { LogLevel } from './json-logger.ts';
import type { LogRecord } from './observe-log.ts';

/** A log record as it is kept; long strings are cut. */
export interface LogLine {
  /** RFC 3339. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  /** Its fields as strings; other values are JSON. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Enough to see what led to the present state; the log itself has the rest. */
const KEPT_LINES = 200;
/** Cuts strings, so that 200 records take at most a few megabytes. */
const MAX_LENGTH = 1_000;
const MAX_FIELDS = 20;
const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** A record whose line is made when it is read, because few are. */
interface KeptRecord extends LogRecord {
  readonly atMs: number;
}

/** The last lines of the log, for those who look from outside. */
export class LogTail {
  readonly #clock: Clock;
  readonly #level: () => LogLevel;
  readonly #records: KeptRecord[] = [];
  readonly #listeners = new Set<(line: LogLine) => void>();

  /** @param level the level of the log: records below it are passed over */
  constructor(clock: Clock, level: () => LogLevel) {
    this.#clock = clock;
    this.#level = level;
  }

  /** The last 200 lines, the oldest first. */
  get recent(): readonly LogLine[] {
    return this.#records.map(lineOf);
  }

  /** Keeps a record. Secrets must be masked in it. */
  add({ level, message, fields }: LogRecord): void {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.#level())) return;
    const record = { atMs: this.#clock.wallMs(), level, message: cut(message), fields: fixed(fields) };
    this.#records.push(record);
    if (this.#records.length > KEPT_LINES) this.#records.shift();
    if (this.#listeners.size === 0) return;
    const line = lineOf(record);
    for (const listener of this.#listeners) listener(line);
  }

  /** Calls back with each line, until the returned function is called. */
  follow(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The record as it is shown. */
function lineOf({ atMs, level, message, fields }: KeptRecord): LogLine {
  return { time: rfc3339(atMs), level, message, fields: stringsOf(fields) };
}

/** Fields that keep no large string and no object alive, and do not change any more. */
function fixed(fields: LogFields): LogFields {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const isShort = typeof value === 'string' ? value.length <= MAX_LENGTH : typeof value === 'number';
    if (!isShort) return stringsOf(fields);
  }
  return fields;
}

function stringsOf(fields: LogFields): Readonly<Record<string, string>> {
  const strings: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields).slice(0, MAX_FIELDS))
    strings[name] = cut(stringOf(value));
  return strings;
}

function stringOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return errorText(value);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return 'cannot be shown';
  }
}

/** The string, or its beginning with `…`. */
function cut(value: string): string {
  return value.length <= MAX_LENGTH ? value : `${value.slice(0, MAX_LENGTH - 1)}…`;
}
