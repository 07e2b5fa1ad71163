// Regular expressions for the builtins. jq uses Oniguruma, which JavaScript does not have: an expression is
// parsed (`regex-parser.ts`), translated to a RegExp of JavaScript (`regex-translation.ts`) and cached with
// its flags. Matches come one by one, in characters. Constructs without a counterpart throw a JqError that
// names them.

import { setMember } from '@addon-operator/json/set-member';
import { failure, JqError } from './jq-error.ts';
import { groupName, type Translation, translateRegex, translationFailure } from './regex-translation.ts';
import { type Value } from './value.ts';

/** One match; offsets and lengths count characters. */
export interface RegexMatch {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  readonly captures: readonly RegexCapture[];
}

/** One group of a match; offsets count characters. */
export interface RegexCapture {
  readonly name: string | null;
  /** -1 if the group did not take part. */
  readonly offset: number;
  readonly text: string | null;
}

/** A translated expression with the flags that concern searching. */
interface CompiledRegex {
  readonly pattern: RegExp;
  readonly translation: Translation;
  readonly isGlobal: boolean;
  readonly isNotEmpty: boolean;
}

const FLAGS = /^[gimnpslx]*$/;
/**
 * Programs that compute expressions would fill the memory; all are dropped at once, which needs no
 * bookkeeping.
 */
const MAX_CACHED = 200;

/** Compiles regular expressions of jq, and keeps the compiled ones. */
export class Regexes {
  readonly #compiled = new Map<string, CompiledRegex>();

  /** Every match with flag `g`, else the first. Throws JqError for a bad regular expression or flag. */
  *matches(input: Value, regex: Value, flags: Value): Iterable<RegexMatch> {
    if (typeof input !== 'string') throw failure(input, 'cannot be matched, as it is not a string');
    if (typeof regex !== 'string') throw failure(regex, 'is not a string');
    if (flags !== null && typeof flags !== 'string') throw failure(flags, 'is not a string');
    const { pattern, translation, isGlobal, isNotEmpty } = this.#find(regex, flags ?? '');
    const position = characterCounter(input);
    pattern.lastIndex = 0;
    for (let at = 0; at <= input.length; ) {
      pattern.lastIndex = at;
      const match = pattern.exec(input);
      if (match === null) return;
      const start = startOf(match, translation);
      const isEmpty = start === match.index + match[0].length;
      // After an empty match the search moves on by one whole character, or it would not end.
      at = isEmpty ? pattern.lastIndex + characterLength(input, pattern.lastIndex) : pattern.lastIndex;
      if (isEmpty && isNotEmpty) continue;
      yield toMatch(match, start, translation, position);
      if (!isGlobal) return;
    }
  }

  #find(regex: string, flags: string): CompiledRegex {
    const key = `${flags}/${regex}`;
    const found = this.#compiled.get(key) ?? compileRegex(regex, flags);
    if (this.#compiled.size >= MAX_CACHED) this.#compiled.clear();
    this.#compiled.set(key, found);
    return found;
  }
}

/**
 * Translates an expression. Throws JqError for an unknown flag, a bad expression, and one without a
 * counterpart.
 */
function compileRegex(regex: string, flags: string): CompiledRegex {
  if (!FLAGS.test(flags)) throw new JqError(`${flags} is not a valid modifier string`);
  if (flags.includes('l')) {
    throw new JqError('Regex failure: flag l (longest match) is not supported by the built-in engine');
  }
  const translation = translateRegex(regex, {
    ignoresCase: flags.includes('i'),
    isExtended: flags.includes('x'),
    isDotAll: flags.includes('p'),
    isMultiLine: false,
  });
  try {
    const pattern = new RegExp(translation.source, `dgv${flags.includes('i') ? 'i' : ''}`);
    return { pattern, translation, isGlobal: flags.includes('g'), isNotEmpty: flags.includes('n') };
  } catch (error) {
    throw translationFailure(error);
  }
}

/** Where the result begins: at the last `\K` that was reached, if any. */
function startOf(match: RegExpExecArray, { starts }: Translation): number {
  return Math.max(...starts.map((name) => match.indices?.groups?.[name]?.[0] ?? match.index), match.index);
}

/** Code units of the character at a position. */
function characterLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Converts positions in code units to positions in characters; cheap near the previous position. */
function characterCounter(text: string): (at: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (at) => at;
  let lastAt = 0;
  let lastPosition = 0;
  const between = (start: number, end: number): number => Array.from(text.slice(start, end)).length;
  return (at) => {
    lastPosition += at < lastAt ? -between(at, lastAt) : between(lastAt, at);
    lastAt = at;
    return lastPosition;
  };
}

/** A match in characters, with its groups by the names they have in the original expression. */
function toMatch(
  match: RegExpExecArray,
  start: number,
  { names }: Translation,
  position: (at: number) => number,
): RegexMatch {
  const captures = names.map((name, at): RegexCapture => {
    const group = groupName(at + 1);
    const text = match.groups?.[group] ?? null;
    const groupStart = match.indices?.groups?.[group]?.[0];
    return { name, text, offset: groupStart === undefined ? -1 : position(groupStart) };
  });
  const text = match[0].slice(start - match.index);
  return { offset: position(start), length: Array.from(text).length, text, captures };
}

/** A match as `match` gives it. */
export function matchValue({ offset, length, text, captures }: RegexMatch): Value {
  return {
    offset,
    length,
    string: text,
    captures: captures.map((capture) => ({
      offset: capture.offset,
      length: Array.from(capture.text ?? '').length,
      string: capture.text,
      name: capture.name,
    })),
  };
}

/** An object with the strings that the named groups matched. */
export function capturedValues({ captures }: RegexMatch): Value {
  const object: Record<string, Value> = {};
  for (const { name, text } of captures) if (name !== null) setMember(object, name, text);
  return object;
}
