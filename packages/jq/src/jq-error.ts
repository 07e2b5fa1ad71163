import { toJson } from './json-text.ts';
import { typeName, type Value } from './value.ts';

/** Bytes of a value that a message shows. */
const MAX_SHOWN_BYTES = 29;
const ELLIPSIS = '...';
const CLOSING: Readonly<Record<string, string>> = { '"': '"', '[': ']', '{': '}' };

/** What a jq program raises, and `try` catches: any value. */
export class JqError extends Error {
  readonly value: Value;

  constructor(value: Value) {
    super(typeof value === 'string' ? value : toJson(value));
    this.value = value;
  }
}

/** A value as messages show it: `number (1)`. */
export function described(value: Value): string {
  return `${typeName(value)} (${shortened(value)})`;
}

/** The JSON text of a value, cut to what fits in a message. */
export function shortened(value: Value): string {
  const start = typeof value === 'string' ? value.slice(0, MAX_SHOWN_BYTES + 1) : value;
  const text = toJson(start);
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_SHOWN_BYTES) return text;
  const closing = CLOSING[text.charAt(0)] ?? '';
  const keptBytes = MAX_SHOWN_BYTES - ELLIPSIS.length - closing.length;
  return `${wholeCharacters(bytes, keptBytes)}${ELLIPSIS}${closing}`;
}

function wholeCharacters(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

export function failure(value: Value, problem: string): JqError {
  return new JqError(`${described(value)} ${problem}`);
}

export function pairFailure(left: Value, right: Value, problem: string): JqError {
  return new JqError(`${described(left)} and ${described(right)} ${problem}`);
}
