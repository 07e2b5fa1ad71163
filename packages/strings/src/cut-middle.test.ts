import { assert, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { cutMiddle } from './cut-middle.ts';

test.each([
  ['abcdefgh', 8, 'abcdefgh'],
  ['abcdefghi', 8, 'abcd…ghi'],
  ['abcdefghi', 5, 'ab…hi'],
  ['ab😀defgh😀ij', 7, 'ab…ij'],
])('cutMiddle(%j, %d)', (text, maxCharacters, cut) => {
  expect(cutMiddle(text, maxCharacters)).toBe(cut);
});

test('cutMiddle() keeps both ends, whole characters, and the limit', () => {
  assert(
    property(
      string({ unit: 'grapheme', maxLength: 40 }),
      integer({ min: 3, max: 20 }),
      (text, maxCharacters) => {
        const cut = cutMiddle(text, maxCharacters);
        expect(cut.length).toBeLessThanOrEqual(maxCharacters);
        expect(cut.isWellFormed()).toBe(true);
        const isCut = text.length > maxCharacters;
        expect(cut === text).toBe(!isCut);
        expect(cut.length).toBeGreaterThanOrEqual(isCut ? maxCharacters - 2 : text.length);
      },
    ),
  );
});
