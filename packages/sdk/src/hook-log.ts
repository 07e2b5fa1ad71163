import type { HookLog } from './hook-input.ts';

/** A log that prints each record as a line of JSON, as an executable would. */
export function hookLog(print: (line: string) => void): HookLog {
  const method =
    (level: string): HookLog['info'] =>
    (message, fields = {}) =>
      print(logLine(level, message, fields));
  return Object.freeze({
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  });
}

/** One log line as JSON. A field that cannot be logged must not fail a run. */
function logLine(level: string, message: string, fields: Readonly<Record<string, unknown>>): string {
  const record = { level, msg: message };
  try {
    return JSON.stringify({ ...fields, ...record });
  } catch {
    return JSON.stringify({ ...record, fields: 'not shown: not representable in JSON' });
  }
}
