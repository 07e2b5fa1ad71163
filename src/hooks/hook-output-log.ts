import { isObject } from '../lib/json.ts';
import type { Logger } from '../lib/log.ts';
import type { OutputStream } from '../process/process-runner.ts';

const MAX_LINE_CHARACTERS = 10_000;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

/**
 * Logs what a hook prints, line by line: text at level info; a JSON object keeps its own `level` and `msg`, and its
 * other keys become fields named `hook_<key>`, so that a hook cannot forge fields of the daemon.
 */
export function hookOutputLogger(log: Logger): (stream: OutputStream, line: string) => void {
  const byStream = { stdout: log.child({ output: 'stdout' }), stderr: log.child({ output: 'stderr' }) };
  return (stream, line) => {
    const text = line.trim();
    if (text === '') return;
    const record = text.startsWith('{') ? parseRecord(text) : undefined;
    if (record === undefined) byStream[stream].info({}, truncate(text));
    else logRecord(byStream[stream], record);
  };
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function logRecord(log: Logger, record: Record<string, unknown>): void {
  const { level, msg, time: _time, ...rest } = record;
  const fields: Record<string, unknown> = { proxyJsonLog: true };
  const text = JSON.stringify(rest);
  if (text.length > MAX_LINE_CHARACTERS) fields['hook.truncated'] = truncate(text);
  else for (const [key, value] of Object.entries(rest)) fields[`hook_${key}`] = value;
  log[isLevel(level) ? level : 'info'](fields, typeof msg === 'string' ? truncate(msg) : 'hook result');
}

function isLevel(value: unknown): value is Level {
  return LEVELS.some((level) => level === value);
}

function truncate(text: string): string {
  return text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}:truncated` : text;
}
