import { type PatternReader, regexFailure } from './pattern-reader.ts';
import {
  characterSource,
  codeOf,
  LAST_CODE,
  readCharacterEscape,
  readCodeList,
  readEscapedCharacter,
  readSetEscape,
} from './regex-escape.ts';
import { posixSet } from './regex-property.ts';

const POSIX = /\[:(\^?)(\w+):\]/y;

/** One element of a class. */
type Item =
  /** Code points in order; only the last one can begin a range. */
  | { readonly kind: 'codes'; readonly sources: readonly string[]; readonly last: number }
  | { readonly kind: 'set'; readonly source: string };

/** Reads `[...]`; the reader is at the bracket. In jq, sets in sets and `&&` are plain characters. */
export function readClass(reader: PatternReader): string {
  reader.accept('[');
  const isNegated = reader.accept('^');
  if (reader.match(/\]$/y) !== undefined) throw regexFailure('empty char-class');
  const parts: string[] = [];
  let rangeStart: number | undefined;
  for (let isFirst = true; isFirst || !reader.accept(']'); isFirst = false) {
    if (reader.isAtEnd) throw regexFailure('premature end of char-class');
    // A hyphen before the closing bracket is a plain character.
    if (rangeStart !== undefined && reader.match(/-(?!\])/y) !== undefined) {
      parts.push(`${characterSource(rangeStart)}-${characterSource(rangeEnd(reader, rangeStart))}`);
      rangeStart = undefined;
      continue;
    }
    if (rangeStart !== undefined) parts.push(characterSource(rangeStart));
    const item = readItem(reader);
    rangeStart = item.kind === 'codes' ? item.last : undefined;
    if (item.kind === 'codes') parts.push(...item.sources);
    else parts.push(item.source);
  }
  if (rangeStart !== undefined) parts.push(characterSource(rangeStart));
  return `[${isNegated ? '^' : ''}${parts.join('')}]`;
}

/** The end of a range; a set such as `\d` cannot be one, and the end may not lie before the start. */
function rangeEnd(reader: PatternReader, start: number): number {
  if (reader.isAtEnd) throw regexFailure('premature end of char-class');
  const item = readItem(reader);
  if (item.kind === 'set') throw regexFailure('char-class value at end of range');
  if (item.last < start) throw regexFailure('empty range in char class');
  return Math.min(item.last, LAST_CODE);
}

/** One element: a POSIX bracket, an escape, or a character as it is. */
function readItem(reader: PatternReader): Item {
  const posix = reader.match(POSIX);
  if (posix !== undefined) return { kind: 'set', source: posixSet(posix[2] ?? '', posix[1] === '^') };
  if (!reader.startsWith('\\')) return { kind: 'codes', sources: [], last: codeOf(reader.next()) };
  const ranges = readCodeList(reader);
  if (ranges !== undefined) {
    const sources = ranges.map(
      ([first, last]) => `${characterSource(first)}-${characterSource(Math.min(last, LAST_CODE))}`,
    );
    const single = ranges.at(-1);
    if (single === undefined || single[0] !== single[1]) return { kind: 'set', source: sources.join('') };
    return { kind: 'codes', sources: sources.slice(0, -1), last: single[0] };
  }
  const set = readSetEscape(reader, true);
  if (set !== undefined) return { kind: 'set', source: set };
  if (reader.accept('\\b')) return { kind: 'codes', sources: [], last: 0x08 };
  const code = readCharacterEscape(reader);
  if (code !== undefined) return { kind: 'codes', sources: [], last: code };
  // Without digits it is the character 0, but only in a class.
  const last = reader.accept('\\x') ? 0 : readEscapedCharacter(reader);
  return { kind: 'codes', sources: [], last };
}
