import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitJsonStream } from './json-stream.ts';

const texts = (stream: string): string[] => splitJsonStream(stream).map(({ text }) => text);

test.each<[string, string[]]>([
  ['', []],
  [' \n\t', []],
  ['{"a":1}{"b":2}', ['{"a":1}', '{"b":2}']],
  ['{"a":1}\n[{"b":2}]\n', ['{"a":1}', '[{"b":2}]']],
  ['{"a":"}{[\\"]"} 1 "x"null', ['{"a":"}{[\\"]"}', '1', '"x"', 'null']],
  ['[1,2', ['[1,2']],
  ['{"a": "open', ['{"a": "open']],
  ['{} trailing }', ['{}', 'trailing', '}']],
])('splitJsonStream() cuts %j', (stream, pieces) => {
  expect(texts(stream)).toStrictEqual(pieces);
});

test('splitJsonStream() tells where each value starts', () => {
  expect(splitJsonStream(' {} [1]').map(({ offset }) => offset)).toStrictEqual([1, 4]);
});

test('splitJsonStream() takes strings of any length', () => {
  const stream = JSON.stringify({ a: '\\"'.repeat(1_000_000) });
  expect(texts(`${stream}${stream}`)).toStrictEqual([stream, stream]);
});

test('splitJsonStream() gives back any values that were written one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(' ', '\n', '\r\n\t'), (values, space) => {
      const stream = values.map((value) => JSON.stringify(value)).join(space);
      expect(texts(stream).map((text) => JSON.parse(text))).toStrictEqual(
        values.map((value) => JSON.parse(JSON.stringify(value))),
      );
    }),
  );
});
