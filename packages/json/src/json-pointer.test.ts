import { assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { escapeSegment, formatPointer, parsePointer, unescapeSegment, valueAt } from './json-pointer.ts';

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['a/b', 'a~1b'],
  ['m~n', 'm~0n'],
  ['~1', '~01'],
])('the key %j is the segment %j', (key, segment) => {
  expect(escapeSegment(key)).toBe(segment);
  expect(unescapeSegment(segment)).toBe(key);
});

test('every key comes back', () => {
  assert(
    property(string(), (key) => {
      expect(unescapeSegment(escapeSegment(key))).toBe(key);
    }),
  );
});

test.each([
  ['/a', ['a']],
  ['/a/b/0', ['a', 'b', '0']],
  ['/a~1b/c~0d/~01', ['a/b', 'c~d', '~1']],
  ['/', ['']],
  ['/a//b', ['a', '', 'b']],
])('parsePointer() reads %s, and formatPointer() writes it', (pointer, keys) => {
  expect(parsePointer(pointer)).toStrictEqual(keys);
  expect(formatPointer(keys)).toBe(pointer);
});

test.each(['', 'a/b', '/a~2', '/a~'])('parsePointer() refuses %j', (pointer) => {
  expect(parsePointer(pointer)).toBeUndefined();
});

test('valueAt() finds what is at a pointer, and nothing that is inherited', () => {
  const document = { web: { list: [{ 'a/b': 1 }], none: null } };
  expect(valueAt(document, '/web/list/0/a~1b')).toBe(1);
  expect(valueAt(document, '/web/none')).toBeNull();
  expect(valueAt(document, '/web/none/x')).toBeUndefined();
  expect(valueAt(document, '/web/toString')).toBeUndefined();
  expect(valueAt(document, '/web/list/length')).toBeUndefined();
});
