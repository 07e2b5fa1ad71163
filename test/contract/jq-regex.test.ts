import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askBuiltin } from '../../packages/jq/test/ask-jq.ts';
import { askBinary } from '../support/jq/ask-binary.ts';
import { jqForTests } from '../support/jq/jq-program.ts';

const jqFile = await jqForTests();

/** A piece of a regular expression. Loops over what may match nothing are left to the table of differences. */
interface Piece {
  readonly source: string;
  readonly mayBeEmpty: boolean;
}

const nonEmpty = (...sources: readonly string[]): fc.Arbitrary<Piece> =>
  fc.constantFrom(...sources).map((source) => ({ source, mayBeEmpty: false }));
const empty = (...sources: readonly string[]): fc.Arbitrary<Piece> =>
  fc.constantFrom(...sources).map((source) => ({ source, mayBeEmpty: true }));

const { regex: regexes } = fc.letrec<{
  regex: Piece;
  branch: Piece;
  item: Piece;
  atom: Piece;
  suffix: Piece;
}>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3 },
    nonEmpty('a', 'b', 'c', '.', '[ab]', '[^a]', '[a-c]', '[[:upper:]]', '\\w', '\\s', '\\h', '\\R', '\\N'),
    nonEmpty(
      '\\O',
      '\\x61',
      '\\142',
      '\\x{62}',
      '\\cJ',
      '\\Qa\\E',
      '\\Qab\\E',
      '\\p{Lu}',
      '\\P{Lu}',
      '[\\x{61 63}]',
    ),
    empty('^', '$', '\\b', '\\B', '\\A', '\\Z', '(?<=a)', '(?<!b)', '(?<=\\n)', '\\K', '\\G'),
    empty('\\1', '\\2', '\\k<1>', '\\k<-1>', '(?i)', '(?-i)', '(?m)', '(?s)', '(?#c)'),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?<n>', "(?'m'", '(?i:', '(?s:', '(?m-i:', '(?>'), tie('regex'))
      .map(([start, { source, mayBeEmpty }]) => ({ source: `${start}${source})`, mayBeEmpty })),
    fc
      .tuple(fc.constantFrom('(?=', '(?!'), tie('regex'))
      .map(([start, { source }]) => ({ source: `${start}${source})`, mayBeEmpty: true })),
  ),
  item: fc.oneof(
    { maxDepth: 4 },
    tie('atom'),
    fc
      .tuple(tie('atom'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,2}', '{2,}'), tie('suffix'))
      .map(([atom, quantifier, suffix]) => {
        if (atom.mayBeEmpty) return atom;
        return {
          source: `${atom.source}${quantifier}${suffix.source}`,
          // In `a{1,2}*` the last one decides, and `a{2}?` is no lazy one.
          mayBeEmpty: /^[*?]|^\{0/.test(quantifier) || /\*$|^\{2\}\?/.test(quantifier + suffix.source),
        };
      }),
  ),
  suffix: empty('', '', '?', '+', '*', '{2}', '+?'),
  branch: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => ({
    source: items.map(({ source }) => source).join(''),
    mayBeEmpty: items.every(({ mayBeEmpty }) => mayBeEmpty),
  })),
  regex: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => ({
    source: branches.map(({ source }) => source).join('|'),
    mayBeEmpty: branches.some(({ mayBeEmpty }) => mayBeEmpty),
  })),
}));

const cases = fc.tuple(
  regexes.map(({ source }) => source),
  fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', ' ', '\n'), maxLength: 6 }),
  fc.constantFrom('', 'i', 'x', 'p'),
);
const PROGRAM =
  '[.[] as [$re, $text, $flags] | $text | try [match($re; "g" + $flags) | [.offset, .length]] catch .]';

describe.skipIf(jqFile === undefined)('regular expressions of jq', () => {
  test('match the same in the built-in engine as in jq 1.8.2, or are refused as not supported', async () => {
    const [ask, builtin] = [askBinary(jqFile ?? ''), askBuiltin()];
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 20, maxLength: 40 }), async (rows) => {
        const input = JSON.stringify(rows);
        const [ours, theirs] = [await builtin(PROGRAM, input), await ask(PROGRAM, input)].map((response) =>
          Array.from<unknown>(JSON.parse(response)[0]),
        );
        for (const [at, row] of rows.entries()) {
          const response = ours?.[at];
          if (typeof response === 'string' && response.endsWith('not supported by the built-in engine'))
            continue;
          compared += 1;
          expect({ row, response }).toEqual({ row, response: theirs?.[at] });
        }
      }),
      { numRuns: 100 },
    );
    expect(compared).toBeGreaterThan(1500);
  });
});
