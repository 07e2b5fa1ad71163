import { isObject, parseJson } from '@addon-operator/json';
import { escapeControls } from '@addon-operator/strings/escape-controls';

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

/** A value without quotes if it is unambiguous, else as a JSON string. */
function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (typeof value !== 'string' || PLAIN_VALUE.test(text)) return escapeControls(text);
  return escapeControls(JSON.stringify(text));
}
