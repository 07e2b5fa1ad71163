import { expect, test } from 'vitest';
import { parsePointer } from './json-pointer.ts';

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
