/** Facts of a log record; a value under `error` is shown as its message, causes included. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * The logger of every part of the daemon: a constant message, facts as fields. `error` means that a person must look,
 * `warn` that the daemon will retry, `info` is for following its work, `debug` for the rest.
 */
export interface Logger {
  trace(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  fatal(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

const ignore = (): void => undefined;

/** Drops everything. */
export const silentLogger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  child: () => silentLogger,
};

/** Takes in one record. */
export type WriteRecord = (level: Exclude<keyof Logger, 'child'>, fields: LogFields, message: string) => void;

/**
 * A logger from what becomes of one record, and of the fields of a child. Each run of a hook has several: they have methods
 * instead of closures, which would be made anew for each.
 */
export class DerivedLogger implements Logger {
  readonly #write: WriteRecord;
  readonly #child: Logger['child'];

  constructor(write: WriteRecord, child: Logger['child']) {
    this.#write = write;
    this.#child = child;
  }

  trace(fields: LogFields, message: string): void {
    this.#write('trace', fields, message);
  }

  debug(fields: LogFields, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#write('error', fields, message);
  }

  fatal(fields: LogFields, message: string): void {
    this.#write('fatal', fields, message);
  }

  child(fields: LogFields): Logger {
    return this.#child(fields);
  }
}

/** See {@link DerivedLogger}. */
export function loggerOf(write: WriteRecord, child: Logger['child']): Logger {
  return new DerivedLogger(write, child);
}

type Component =
  | 'helm'
  | 'hooks'
  | 'jq'
  | 'kube'
  | 'leader'
  | 'modules'
  | 'notify'
  | 'operator'
  | 'process'
  | 'schedule'
  | 'server'
  | 'ui'
  | 'values';

/** The logger of one part of the operator: `logger` in its records names the part. */
export function componentLog({ log }: { readonly log: Logger }, component: Component): Logger {
  return log.child({ logger: `addon-operator.${component}` });
}
