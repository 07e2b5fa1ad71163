/** Facts of a log record; a value under `error` is shown as its message, causes included. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * What every part of the daemon logs through: a constant message, facts as fields.
 * `error` = someone must look, `warn` = we will retry, `info` = what an operator follows, `debug` = the rest.
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

/** A logger from what becomes of one record, and of the fields of a child. */
export function loggerOf(
  write: (level: Exclude<keyof Logger, 'child'>, fields: LogFields, message: string) => void,
  child: Logger['child'],
): Logger {
  const at =
    (level: Exclude<keyof Logger, 'child'>) =>
    (fields: LogFields, message: string): void =>
      write(level, fields, message);
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child,
  };
}

type Component =
  | 'helm'
  | 'hooks'
  | 'jq'
  | 'kube'
  | 'leader'
  | 'modules'
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
