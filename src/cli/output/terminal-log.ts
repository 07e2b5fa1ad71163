import { isObject, parseJson, stringOf } from '@addon-operator/json';
import type { LogOutput } from '@addon-operator/logging/json-logger';
import { escapeControls, readableLine } from '@addon-operator/strings/escape-controls';
import { type Paint, paintFor, type Style } from './paint.ts';

const LEVEL_STYLES: Readonly<Record<string, Style>> = {
  trace: 'dim',
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/** For machines, or said by another part of the line. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'binding',
  'event.id',
  'event.type',
  'hook.type',
  'logger',
  'output',
  'proxyJsonLog',
  'queue',
  'source',
  'task.flow',
  'task.id',
]);

const INDENT = '    ';

/** A log output for a person at a terminal: writes each JSON record by {@link terminalLines}. */
export function terminalLog(output: LogOutput, hasColor: boolean): LogOutput {
  const paint = paintFor(hasColor);
  return { write: (line) => output.write(terminalLines(line, paint)) };
}

/**
 * A JSON log record for people: time of day, level, module and hook, what happened, and fields that say more. A value of
 * several lines, such as an error, follows as lines. Control characters are escaped.
 *
 * @param line one record, with or without a line end
 */
export function terminalLines(line: string, paint: Paint): string {
  const record = recordIn(line);
  if (!isObject(record)) return `${escapeControls(line.trim())}\n`;
  const { level, time, msg, module, hook, ...fields } = record;
  const word = escapeControls(stringOf(level));
  const style = LEVEL_STYLES[word];
  const place = [module, hook].map(stringOf).filter((name) => name !== '');
  // The path of a hook ends with its name, which is in front.
  const isHookPath = (name: string, value: unknown): boolean =>
    name === 'path' && typeof hook === 'string' && hook !== '' && stringOf(value).endsWith(`/${hook}`);
  const shown = Object.entries(fields).filter(
    ([name, value]) => !LEFT_OUT.has(name) && !isHookPath(name, value),
  );
  const details = shown.map(([name, value]) => [name, linesOf(value)] as const);
  const short = details.filter(([, lines]) => lines.length <= 1);
  const head = [
    ...(time === undefined ? [] : [paint('dim', timeOfDay(stringOf(time)))]),
    style === undefined ? word.padEnd(5) : paint(style, word.padEnd(5)),
    ...(place.length === 0 ? [] : [paint('cyan', place.map(escapeControls).join('/'))]),
    [...linesOf(msg).slice(0, 1), ...short.flatMap(([name, lines]) => (name === 'error' ? lines : []))].join(
      ': ',
    ),
    ...short
      .filter(([name]) => name !== 'error')
      .map(([name, [text = '']]) => paint('dim', `${escapeControls(name)}=${text}`)),
  ];
  const below = [
    ...linesOf(msg).slice(1),
    ...details
      .filter(([, lines]) => lines.length > 1)
      .flatMap(([name, lines]) => [`${escapeControls(name)}:`, ...lines]),
  ];
  return [head.join(' '), ...below.map((text) => `${INDENT}${text}`)].map((text) => `${text}\n`).join('');
}

function recordIn(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** Lists of text, such as the frames of an error, are lines as well. */
function linesOf(value: unknown): readonly string[] {
  const isList =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item === 'string' && item.includes(' '));
  const text = isList ? value.join('\n') : typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text
    .trimEnd()
    .split('\n')
    .map((part) => readableLine(escapeControls(part.replace(/\r$/, '').replaceAll('\t', '  '))));
}

/** In the time zone of the terminal. */
function timeOfDay(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? escapeControls(time) : date.toTimeString().slice(0, 8);
}
