import { type PatternReader, regexFailure } from './pattern-reader.ts';
import { propertySet, SPACE, WIDE_WORD, WORD } from './regex-property.ts';

/** A set of characters that matches none. */
export const NOTHING = '[]';

/** Escapes of control characters. */
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
  ['a', 0x07],
  ['e', 0x1b],
]);
const CODE_LIST = /\\(?:x\{([0-9a-fA-F][0-9a-fA-F \n-]*)\}|o\{([0-7][0-7 \n-]*)\})/y;
/** A list that begins like one and is not valid as a whole. */
const BAD_CODE_LIST = /\\(?:x\{[0-9a-fA-F]|o\{[0-9])/y;
const BYTE = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))/y;
const PROPERTY = /\\([pP])\{(\^?)([^{}]*)\}/y;

/** The highest code point. */
export const LAST_CODE = 0x10ffff;

/** The first and the last code point of a range. */
export type CodeRange = readonly [number, number];

/** `\x{41 43-45}` and `\o{101}`. */
export function readCodeList(reader: PatternReader): readonly CodeRange[] | undefined {
  const match = reader.match(CODE_LIST);
  if (match === undefined) {
    if (reader.match(BAD_CODE_LIST) !== undefined) throw regexFailure('invalid code point value');
    return undefined;
  }
  const [, hexadecimal, octal = ''] = match;
  const code = (digits: string): number => Number.parseInt(digits, hexadecimal === undefined ? 8 : 16);
  const ranges = (hexadecimal ?? octal).trim().split(/[ \n]+/);
  return ranges.map((range) => {
    const [first = '', last = first, ...rest] = range.split('-');
    if (first === '' || last === '' || rest.length > 0) throw regexFailure('invalid code point value');
    return [code(first), code(last)];
  });
}

/** An escape for one character, inside or outside of a class: its code point. Code points that do not exist match nothing. */
export function readCharacterEscape(reader: PatternReader): number | undefined {
  const byte = readByte(reader);
  if (byte !== undefined) return byte < 0x80 ? byte : readUtf8(byte, reader);
  if (reader.accept('\\c')) {
    if (reader.isAtEnd) throw regexFailure('end pattern at control');
    if (reader.accept('?')) return 0x7f;
    return (reader.startsWith('\\') ? readEscapedCharacter(reader) : codeOf(reader.next())) & 0x1f;
  }
  return undefined;
}

/** `\` and a character without a meaning of its own here, or one like `\n`. */
export function readEscapedCharacter(reader: PatternReader): number {
  reader.accept('\\');
  if (reader.isAtEnd) throw regexFailure('end pattern at escape');
  const character = reader.next();
  return CONTROLS.get(character) ?? codeOf(character);
}

/** `\w`, `\p{...}` and the like. The set may be in brackets, or alone. */
export function readSetEscape(reader: PatternReader, isInClass: boolean): string | undefined {
  const property = reader.match(PROPERTY);
  if (property !== undefined) {
    const [, letter, negation, name = ''] = property;
    return propertySet(name, (letter === 'P') !== (negation === '^'));
  }
  const letter = reader.match(/\\([wWdDsS]|[pP]\{)/y)?.[1];
  const word = isInClass ? WORD : WIDE_WORD;
  if (letter === undefined) return undefined;
  switch (letter) {
    case 'w':
      return `[${word}]`;
    case 'W':
      return `[^${word}]`;
    case 'd':
      return '\\p{Nd}';
    case 'D':
      return '\\P{Nd}';
    case 's':
      return `[${SPACE}]`;
    case 'S':
      return `[^${SPACE}]`;
    case 'p{':
    case 'P{':
      throw regexFailure('end pattern with unmatched parenthesis');
    default:
      return undefined;
  }
}

/** The source of one character. */
export function characterSource(code: number): string {
  if (code > LAST_CODE) return NOTHING;
  const character = String.fromCodePoint(code);
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${code.toString(16)}}`;
}

/** The code point of a character. */
export function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** `\x41` or `\101`: one byte, hexadecimal or octal. */
function readByte(reader: PatternReader): number | undefined {
  const match = reader.match(BYTE);
  if (match === undefined) return undefined;
  const [, hexadecimal, octal = '0'] = match;
  return (
    (hexadecimal === undefined ? Number.parseInt(octal, 8) : Number.parseInt(`0${hexadecimal}`, 16)) & 0xff
  );
}

/** Escapes of bytes beyond ASCII are bytes of UTF-8. */
function readUtf8(first: number, reader: PatternReader): number {
  if (first > 0xf4) return Number.POSITIVE_INFINITY;
  const length = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length === 1) throw regexFailure('invalid code point value');
  const bytes = [first];
  while (bytes.length < length) {
    const byte = readByte(reader);
    if (byte === undefined) throw regexFailure('too short multibyte code string');
    bytes.push(byte);
  }
  try {
    return codeOf(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes)));
  } catch {
    throw regexFailure('invalid code point value');
  }
}
