import type { Logger } from '../lib/log.ts';
import type { OutputStream } from '../process/process-runner.ts';
import { JsonLineJoiner } from './json-line-joiner.ts';

const MAX_LINE_CHARACTERS = 10_000;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export interface HookOutputLog {
  line(stream: OutputStream, line: string): void;
  /** To be called when the hook has ended: logs what was still awaiting its end. */
  end(): void;
}

/**
 * Logs what a hook prints, line by line: text at level info; a JSON object, which may span lines, keeps its own `level`
 * and `msg`, and its other keys become fields named `hook_<key>`, so that a hook cannot forge fields of the daemon.
 */
export function createHookOutputLog(log: Logger): HookOutputLog {
  const joiners = { stdout: joinerFor(log, 'stdout'), stderr: joinerFor(log, 'stderr') };
  return {
    line: (stream, line) => {
      const text = line.trim();
      if (text !== '') joiners[stream].push(text);
    },
    end: () => {
      joiners.stdout.end();
      joiners.stderr.end();
    },
  };
}

function joinerFor(log: Logger, output: OutputStream): JsonLineJoiner {
  const streamLog = log.child({ output });
  return new JsonLineJoiner({
    onObject: (record) => logRecord(streamLog, record),
    onText: (line) => streamLog.info({}, truncate(line)),
  });
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
