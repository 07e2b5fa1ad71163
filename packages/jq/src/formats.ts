// Formats such as `@csv` and `@base64`, and the conversion of any value to a string. A format in the program
// is looked up when it is compiled (JqSyntaxError), one that is the argument of `format` when it runs
// (JqError).

import { failure, JqError } from './jq-error.ts';
import { toJson } from './json-text.ts';
import { JqSyntaxError } from './lexer.ts';
import { isArray, isNumber, isObject, toDouble, type Value } from './value.ts';

/** Writes a value as a string in the format of an `@name`. */
export type Format = (value: Value) => string;

/** The characters that `@html` escapes. */
const HTML: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  "'": '&apos;',
  '"': '&quot;',
};
/** The characters that `@tsv` escapes. */
const TSV: Readonly<Record<string, string>> = { '\t': '\\t', '\r': '\\r', '\n': '\\n', '\\': '\\\\' };
/** The alphabet of RFC 4648, which encodes 5 bits per digit. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['text', asString],
  ['json', toJson],
  ['html', (value) => asString(value).replace(/[<>&'"]/g, (character) => HTML[character] ?? '')],
  ['uri', (value) => encodeUri(asString(value))],
  ['urid', (value) => decodeUri(asString(value))],
  ['csv', (value) => row(value, 'csv', ',', (text) => `"${text.replaceAll('"', '""')}"`)],
  ['tsv', (value) => row(value, 'tsv', '\t', (text) => text.replace(/[\t\r\n\\]/g, (one) => TSV[one] ?? ''))],
  ['sh', (value) => (isArray(value) ? value : [value]).map(shellWord).join(' ')],
  ['base64', (value) => Buffer.from(asString(value)).toString('base64')],
  ['base64d', (value) => decodeBase64(asString(value))],
  ['base32', (value) => encodeBase32(Buffer.from(asString(value)))],
  ['base32d', (value) => decodeBase32(asString(value))],
]);

/** Throws JqSyntaxError when there is no such format. */
export function formatNamed(name: string): Format {
  const format = FORMATS.get(name);
  if (format === undefined) throw new JqSyntaxError(`@${name} is not a valid format`);
  return format;
}

/** The value in a format whose name is computed at run time. Throws JqError when there is no such format. */
export function formatted(value: Value, name: Value): string {
  if (typeof name !== 'string') throw failure(name, 'is not a valid format');
  const format = FORMATS.get(name);
  if (format === undefined) throw new JqError(`${name} is not a valid format`);
  return format(value);
}

/** Strings as they are, everything else as JSON. */
export function asString(value: Value): string {
  return typeof value === 'string' ? value : toJson(value);
}

/**
 * encodeURIComponent leaves `!'()*` unescaped, which RFC 3986 reserves. A lone surrogate becomes U+FFFD
 * first: it would throw.
 */
function encodeUri(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Fails instead of replacing, and keeps a byte order mark. */
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * By bytes, since one character may be spread over several escapes. Throws JqError for bytes that are no
 * UTF-8.
 */
function decodeUri(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; ) {
    const code = /^%([0-9a-fA-F]{2})/.exec(text.slice(at, at + 3))?.[1];
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character === '%' && code === undefined) throw notUri(text);
    bytes.push(...(code === undefined ? Buffer.from(character) : [Number.parseInt(code, 16)]));
    at += code === undefined ? character.length : code.length + 1;
  }
  try {
    return STRICT_UTF8.decode(Uint8Array.from(bytes));
  } catch {
    throw notUri(text);
  }
}

function notUri(text: string): JqError {
  return failure(text, 'is not a valid uri encoding');
}

/** A line of `@csv` or `@tsv`; null and NaN are empty fields, nested values an error. */
function row(value: Value, name: string, separator: string, quote: (text: string) => string): string {
  if (!isArray(value)) throw failure(value, `cannot be ${name}-formatted, only array`);
  const fields = value.map((item) => {
    if (item === null || Number.isNaN(item)) return '';
    if (typeof item === 'string') return quote(item);
    if (isArray(item) || isObject(item)) throw failure(item, 'is not valid in a csv row');
    return toJson(item);
  });
  return fields.join(separator);
}

/** Single quotes protect everything but themselves, and those are written as `'\''`. */
function shellWord(value: Value): string {
  if (isArray(value) || isObject(value)) throw failure(value, 'can not be escaped for shell');
  return typeof value === 'string' ? `'${value.replaceAll("'", `'\\''`)}'` : toJson(value);
}

/** Padding is optional. A single digit left over cannot hold a byte. */
function decodeBase64(text: string): string {
  const digits = text.replace(/=+$/, '');
  if (/[^A-Za-z0-9+/]/.test(digits)) throw failure(text, 'is not valid base64 data');
  if (digits.length % 4 === 1) throw failure(text, 'trailing base64 byte found');
  return Buffer.from(digits, 'base64').toString();
}

/** Collects bytes and takes 5 bits at a time; 12 bits are all that can be pending. */
function encodeBase32(bytes: Buffer): string {
  let [text, held, bits] = ['', 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31] ?? '';
  }
  if (bits > 0) text += BASE32[(held << (5 - bits)) & 31] ?? '';
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

/** Collects 5 bits per digit and takes bytes; bits that are left over are padding. */
function decodeBase32(text: string): string {
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const digit of text.replace(/=+$/, '')) {
    const number = BASE32.indexOf(digit);
    if (number === -1) throw failure(text, 'is not valid base32 data');
    held = ((held << 5) | number) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
  }
  return Buffer.from(bytes).toString();
}

/** The code points of a string. */
export function codePoints(value: Value): number[] {
  if (typeof value !== 'string') throw new JqError('explode input must be a string');
  return Array.from(value, (character) => character.codePointAt(0) ?? 0);
}

/** The string of these code points; numbers that are no character become U+FFFD. */
export function fromCodePoints(value: Value): string {
  if (!isArray(value)) throw new JqError('implode input must be an array');
  return value
    .map((point) => {
      const code = isNumber(point) ? Math.trunc(toDouble(point)) : Number.NaN;
      if (Number.isNaN(code)) {
        throw failure(point, "can't be imploded, unicode codepoint needs to be numeric");
      }
      const isCharacter = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      return String.fromCodePoint(isCharacter ? code : 0xfffd);
    })
    .join('');
}
