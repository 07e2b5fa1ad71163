// Builtins for regular expressions. `regex.ts` finds matches one by one and keeps compiled expressions; here
// they become the values that `test`, `match`, `capture`, `scan`, `split` and `sub` return. Offsets count
// characters, not code units, so strings are cut through arrays of characters.

import { add } from './arithmetic.ts';
import { Cell, type Env, each, type Run } from './cell.ts';
import type { Builtin } from './compile-call.ts';
import { flatMap } from './flow.ts';
import { JqError } from './jq-error.ts';
import { capturedValues, matchValue, type Regexes, type RegexMatch } from './regex.ts';
import { isArray, isTruthy, typeName, type Value } from './value.ts';
import { type BuiltinTable, ofManyValues } from './value-builtin.ts';

/** Builtins that match regular expressions. */
export function regexBuiltins(regexes: Regexes): BuiltinTable {
  const matching = (make: (matches: Iterable<RegexMatch>) => Iterable<Value>): BuiltinPair => ({
    one: ofManyValues((input, given = null) => {
      const [regex, flags] = regexAndFlags(given);
      return make(regexes.matches(input, regex, flags));
    }),
    two: ofManyValues((input, regex = null, flags = null) => make(regexes.matches(input, regex, flags))),
  });
  const [test, match, capture] = [matching(any), matching(matchValues), matching(captures)];
  return {
    'test/1': test.one,
    'test/2': test.two,
    'match/1': match.one,
    'match/2': match.two,
    'capture/1': capture.one,
    'capture/2': capture.two,
    'scan/2': ofManyValues((input, regex = null, flags = null) =>
      scanned(regexes.matches(input, regex, add('g', flags))),
    ),
    'split/2': ofManyValues((input, regex = null, flags = null) => [
      [...pieces(input, regexes.matches(input, regex, add('g', flags)))],
    ]),
    'splits/2': ofManyValues((input, regex = null, flags = null) =>
      pieces(input, regexes.matches(input, regex, add('g', flags))),
    ),
    'sub/2': substitution(regexes, ''),
    'sub/3': substitution(regexes, ''),
    'gsub/2': substitution(regexes, 'g'),
    'gsub/3': substitution(regexes, 'g'),
  };
}

/** One builtin with the regular expression alone, one with flags as well. */
interface BuiltinPair {
  readonly one: Builtin;
  readonly two: Builtin;
}

/** The single argument is a regular expression, or `[regex]` or `[regex, flags]`. */
function regexAndFlags(given: Value): readonly [Value, Value] {
  if (typeof given === 'string') return [given, null];
  const [regex, flags = null] = isArray(given) ? given : [];
  if (regex === undefined) throw new JqError(`${typeName(given)} not a string or array`);
  return [regex, flags];
}

/** `test`: stops at the first match. */
function* any(matches: Iterable<RegexMatch>): Iterable<Value> {
  for (const _ of matches) {
    yield true;
    return;
  }
  yield false;
}

/** `match`: one object per match. */
function* matchValues(matches: Iterable<RegexMatch>): Iterable<Value> {
  for (const match of matches) yield matchValue(match);
}

/** `capture`: one object of the named groups per match. */
function* captures(matches: Iterable<RegexMatch>): Iterable<Value> {
  for (const match of matches) yield capturedValues(match);
}

/** `scan`: the match itself, or its groups if there are any. */
function* scanned(matches: Iterable<RegexMatch>): Iterable<Value> {
  for (const match of matches) {
    yield match.captures.length === 0 ? match.text : match.captures.map(({ text }) => text);
  }
}

/** `split` and `splits`: the strings between the matches. */
function* pieces(input: Value, matches: Iterable<RegexMatch>): Iterable<Value> {
  const characters = Array.from(typeof input === 'string' ? input : '');
  let start = 0;
  for (const { offset, length } of matches) {
    yield characters.slice(start, offset).join('');
    start = offset + length;
  }
  yield characters.slice(start).join('');
}

/** `sub` and `gsub`: several outputs of the replacement give several results. */
function substitution(regexes: Regexes, always: string): Builtin {
  return ([regex, replacement, flags]) =>
    (env, cell) =>
      flatMap(valueOf(flags, env, cell), (given) =>
        flatMap(valueOf(regex, env, cell), (pattern) => {
          const matches = regexes.matches(cell.value, pattern.value, add(given.value, always));
          return substituted(cell, matches, (match) => {
            const outputs = replacement?.(env, new Cell(capturedValues(match), undefined)) ?? [];
            return [...each(outputs)].map(({ value }) => value);
          });
        }),
      );
}

/** The outputs of an argument on the input; the empty string if the call has no such argument. */
function valueOf(run: Run | undefined, env: Env, cell: Cell) {
  return run?.(env, cell.plain) ?? cell.made('');
}

/**
 * Each output of the replacement continues the result with the same number, so two outputs make two strings.
 */
function* substituted(
  cell: Cell,
  matches: Iterable<RegexMatch>,
  replacementsOf: (match: RegexMatch) => readonly Value[],
): Iterable<Cell> {
  const characters = Array.from(typeof cell.value === 'string' ? cell.value : '');
  const strings: Value[] = [];
  let end = 0;
  for (const match of matches) {
    const gap = characters.slice(end, match.offset).join('');
    for (const [at, replacement] of replacementsOf(match).entries()) {
      strings[at] = add(strings[at] ?? null, add(gap, replacement));
    }
    end = match.offset + match.length;
  }
  const rest = characters.slice(end).join('');
  const results = strings.map((string) => add(string, rest)).filter(isTruthy);
  for (const result of results.length === 0 ? [cell.value] : results) yield cell.made(result);
}
