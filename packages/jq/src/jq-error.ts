import { toJson } from './json-text.ts';
import { typeName, type Value } from './value.ts';

/** Bytes of a value that a message shows. */
const MAX_SHOWN_BYTES = 29;
/** jq marks a cut value with dots before its closing quote or bracket. */
const ELLIPSIS = '...';
const CLOSING: Readonly<Record<string, string>> = { '"': '"', '[': ']', '{': '}' };

/** Raised by a jq program, with any value; `try` catches it. */
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

/** The JSON of a value, cut to the length that fits in a message. */
export function shortened(value: Value): string {
  const start = typeof value === 'string' ? value.slice(0, MAX_SHOWN_BYTES + 1) : value;
  const text = toJson(start);
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_SHOWN_BYTES) return text;
  const closing = CLOSING[text.charAt(0)] ?? '';
  const keptBytes = MAX_SHOWN_BYTES - ELLIPSIS.length - closing.length;
  return `${wholeCharacters(bytes, keptBytes)}${ELLIPSIS}${closing}`;
}

/** The start of a string of bytes, without cutting a character of several bytes in half. */
function wholeCharacters(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** An error about one value: `number (1) <problem>`. */
export function failure(value: Value, problem: string): JqError {
  return new JqError(`${described(value)} ${problem}`);
}

/** An error about two values: `number (1) and string ("a") <problem>`. */
export function pairFailure(left: Value, right: Value, problem: string): JqError {
  return new JqError(`${described(left)} and ${described(right)} ${problem}`);
}
