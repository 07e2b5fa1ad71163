import { array, assert, boolean, constantFrom, property, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { PatternIndex, SHORTEST_PATTERN } from './pattern-index.ts';

interface Pattern {
  readonly text: string;
}

function indexOf(...texts: readonly string[]): PatternIndex<Pattern> {
  const index = new PatternIndex<Pattern>();
  for (const text of texts) index.add({ text });
  return index;
}

const found = (index: PatternIndex<Pattern>, text: string): readonly string[] =>
  index.find(text, () => true).map(({ start, pattern }) => `${start} ${pattern.text}`);

test.each([
  ['a pattern at the beginning, in the middle and at the end', 'token x token y token', [0, 8, 16], 'token'],
  ['patterns that follow each other one by one', 'tokentoken', [0, 5], 'token'],
  ['the longer one of two', 'token-2', [0], 'token-2'],
  ['characters beyond Latin', 'a пароль☂ b', [2], 'пароль☂'],
])('PatternIndex finds %s', (_what, text, starts, pattern) => {
  expect(found(indexOf('token', 'token-2', 'пароль☂'), text)).toEqual(
    starts.map((start) => `${start} ${pattern}`),
  );
});

test('PatternIndex finds nothing where there is nothing', () => {
  for (const text of ['', 'tok', 'toke', 'a toke n'])
    expect(found(indexOf('token', 'tokens'), text)).toEqual([]);
});

test('PatternIndex finds the longest pattern that is accepted', () => {
  const index = indexOf('abcd', 'abcde', 'abcdef');
  expect(index.find('abcdefg', ({ end }) => end < 6).map(({ pattern }) => pattern.text)).toEqual(['abcde']);
});

test('beginsWith() knows the beginnings of patterns from four characters on', () => {
  const index = indexOf('correct-horse', 'correct-house');
  for (const [text, isOne] of [
    ['corr', true],
    ['correct-hor', true],
    ['correct-hou', true],
    ['correct-horse', true],
    ['correct-horses', false],
    ['correct-how', false],
    ['orrect', false],
  ] as const)
    expect([text, index.beginsWith(`x${text}y`, 1, 1 + text.length)]).toEqual([text, isOne]);
});

test('PatternIndex finds each of very many patterns with a common beginning', () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `secret-${index}-value`);
  const index = indexOf(...texts);
  expect(found(index, texts.join(' '))).toHaveLength(texts.length);
  expect(found(index, 'secret-20000-value')).toEqual([]);
});

/** The longest pattern at each place, found one by one. */
function foundSlowly(texts: readonly string[], text: string): readonly string[] {
  return Array.from({ length: text.length }, (_, start) => start).flatMap((start) => {
    const there = texts.filter((each) => text.startsWith(each, start));
    const longest = there.toSorted((a, b) => b.length - a.length)[0];
    return longest === undefined ? [] : [`${start} ${longest}`];
  });
}

test('PatternIndex finds in any text what a search for each pattern that it has finds', () => {
  // Characters with the same low byte: patterns overlap, and differ only in their high bytes.
  const anyText = (minLength: number, maxLength: number) =>
    string({ unit: constantFrom('a', 'š'), minLength, maxLength, size: 'max' });
  const change = tuple(anyText(SHORTEST_PATTERN, 8), boolean());
  let hits = 0;
  assert(
    property(anyText(0, 40), array(change, { maxLength: 20, size: 'max' }), (text, changes) => {
      const index = new PatternIndex<Pattern>();
      const patterns: Pattern[] = [];
      for (const [added, isDeletion] of changes) {
        const place = patterns.findIndex((each) => each.text === added);
        const [deleted] = isDeletion && place >= 0 ? patterns.splice(place, 1) : [];
        if (deleted !== undefined) index.delete(deleted);
        else {
          const pattern = { text: added };
          patterns.push(pattern);
          index.add(pattern);
        }
      }
      const expected = foundSlowly(
        patterns.map((pattern) => pattern.text),
        text,
      );
      hits += expected.length;
      expect(found(index, text)).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
  expect(hits).toBeGreaterThan(100);
});
