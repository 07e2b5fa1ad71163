import { assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { escapeSegment, unescapeSegment } from './json-pointer.ts';

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
