import { expect, test } from 'vitest';
import { isBelow, parsePointer } from './json-pointer.ts';

test.each([
  ['/a', ['a']],
  ['/a/b/0', ['a', 'b', '0']],
  ['/a~1b/c~0d/~01', ['a/b', 'c~d', '~1']],
  ['/', ['']],
  ['/a//b', ['a', '', 'b']],
])('parsePointer() reads %s', (pointer, segments) => {
  expect(parsePointer(pointer)).toStrictEqual(segments);
});

test.each(['', 'a/b', '/a~2', '/a~'])('parsePointer() refuses %j', (pointer) => {
  expect(parsePointer(pointer)).toBeUndefined();
});

test('isBelow() knows what is inside from what only starts alike', () => {
  expect(isBelow('/web/a/b', '/web/a')).toBe(true);
  expect(isBelow('/web/ab', '/web/a')).toBe(false);
  expect(isBelow('/web/a', '/web/a')).toBe(false);
});
