import { array, assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { SHORTEST_TEXT, TextMask } from './text-mask.ts';

const hide = (text: string, ...texts: readonly string[]): string => new TextMask(texts, '***').hide(text);

test.each([
  ['a text at the beginning, in the middle and at the end', 'token x token y token', '*** x *** y ***'],
  ['texts that follow each other one by one', 'tokentoken', '******'],
  ['the longer one of two as a whole', 'token-2 token', '*** ***'],
  ['texts with characters beyond Latin', 'a пароль☂ b', 'a *** b'],
])('TextMask hides %s', (_what, text, expected) => {
  expect(hide(text, 'token', 'token-2', 'пароль☂')).toBe(expected);
});

test('TextMask leaves no part of two texts that overlap', () => {
  expect(hide('x abcdefgh y', 'abcd', 'cdefgh')).toBe('x *** y');
  expect(hide('x abcdefgh y', 'abcdefgh', 'cdef')).toBe('x *** y');
});

test('TextMask returns the same string, when nothing is to be hidden', () => {
  for (const text of ['', 'tok', 'toke', 'a toke n']) expect(hide(text, 'token', 'abc')).toBe(text);
});

/** Every character of every occurrence, found one by one. */
function hiddenSlowly(text: string, texts: readonly string[]): string {
  const found = texts
    .filter(({ length }) => length >= SHORTEST_TEXT)
    .flatMap((hidden) =>
      Array.from(text, (_, at) => at)
        .filter((at) => text.startsWith(hidden, at))
        .map((at) => [at, at + hidden.length] as const),
    )
    .toSorted(([a], [b]) => a - b);
  const merged: (readonly [number, number])[] = [];
  for (const [start, end] of found) {
    const last = merged.at(-1);
    if (last === undefined || start >= last[1]) merged.push([start, end]);
    else merged[merged.length - 1] = [last[0], Math.max(end, last[1])];
  }
  return merged.reduceRight((rest, [start, end]) => `${rest.slice(0, start)}***${rest.slice(end)}`, text);
}

test('TextMask hides in any text what a search for each text finds', () => {
  // Two characters with the same low byte: texts overlap, and differ only in their high bytes.
  const anyText = (minLength: number, maxLength: number) =>
    string({ unit: constantFrom('a', 'š'), minLength, maxLength, size: 'max' });
  let hits = 0;
  assert(
    property(anyText(0, 40), array(anyText(3, 8), { maxLength: 6 }), (text, texts) => {
      const expected = hiddenSlowly(text, texts);
      if (expected !== text) hits += 1;
      expect(hide(text, ...texts)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
  expect(hits).toBeGreaterThan(10);
});
