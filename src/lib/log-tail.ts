import type { Clock } from '@addon-operator/base/clock';
import { errorText } from '@addon-operator/base/error-text';
import { rfc3339 } from '@addon-operator/base/rfc3339';
import type { LogRecord } from './observe-log.ts';
import type { LogLevel } from './pino-logger.ts';

/** A log record as it is kept; long texts are cut. */
export interface LogLine {
  /** RFC 3339. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  /** Texts of its fields; what is no text is JSON. */
  readonly fields: Readonly<Record<string, string>>;
}

const KEPT_LINES = 200;
const MAX_TEXT = 1_000;
const MAX_FIELDS = 20;
const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** The last lines of the log, for those who look from outside. */
export class LogTail {
  readonly #clock: Clock;
  readonly #level: () => LogLevel;
  readonly #lines: LogLine[] = [];
  readonly #listeners = new Set<(line: LogLine) => void>();

  /** @param level the level of the log: records below it are passed over */
  constructor(clock: Clock, level: () => LogLevel) {
    this.#clock = clock;
    this.#level = level;
  }

  /** The last 200 lines, the oldest first. */
  get recent(): readonly LogLine[] {
    return [...this.#lines];
  }

  /** Keeps a record. Secrets must be masked in it. */
  add({ level, message, fields }: LogRecord): void {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.#level())) return;
    const texts = Object.entries(fields)
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => [name, cut(textOf(value))]);
    const line: LogLine = {
      time: rfc3339(this.#clock.wallMs()),
      level,
      message: cut(message),
      fields: Object.fromEntries(texts),
    };
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }

  /** Calls back with each line, until the returned function is called. */
  follow(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return errorText(value);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return 'cannot be shown';
  }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
