import { array, assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { hasMoreItems, splitJsonStream } from './json-stream.ts';

test.each<[string, readonly string[]]>([
  ['', []],
  [' \n\t', []],
  ['{"a":1}', ['{"a":1}']],
  ['{"a":1}{"b":2}', ['{"a":1}', '{"b":2}']],
  ['{"a":1}\n[{"b":2}]\n', ['{"a":1}', '[{"b":2}]']],
  [String.raw`{"a":"}\"{"} {"b":"\\"}`, [String.raw`{"a":"}\"{"}`, String.raw`{"b":"\\"}`]],
  ['{"a":1} oops {"b":2}', ['{"a":1}', 'oops', '{"b":2}']],
  ['{"a":1}}', ['{"a":1}', '}']],
  ['{"a":[1', ['{"a":[1']],
  ['"open', ['"open']],
  ['1 2', ['1', '2']],
])('splitJsonStream(%j) gives %j', (text, expected) => {
  expect(splitJsonStream(text).map((part) => part.text)).toEqual(expected);
});

test('each value comes with its offset', () => {
  expect(splitJsonStream(' {} []')).toEqual([
    { text: '{}', offset: 1 },
    { text: '[]', offset: 4 },
  ]);
});

test('documents that were written one after another are split again', () => {
  assert(
    property(array(jsonValue()), (values) => {
      const text = values.map((value) => JSON.stringify(value)).join('\n');
      expect(splitJsonStream(text).map((part) => JSON.parse(part.text))).toEqual(
        values.map((value) => JSON.parse(JSON.stringify(value))),
      );
    }),
  );
});

test.each([
  ['a list', (count: number) => `[${Array(count).fill('1').join(',')}]`],
  [
    'a map',
    (count: number) =>
      `{${Array(count / 2)
        .fill('"k":1')
        .join(',')}}`,
  ],
  ['a stream', (count: number) => '{}'.repeat(count)],
])('hasMoreItems() counts keys and values of %s', (_, textOf) => {
  expect(hasMoreItems(textOf(100), 100)).toBe(false);
  expect(hasMoreItems(textOf(102), 100)).toBe(true);
});

test('hasMoreItems() passes over strings', () => {
  expect(hasMoreItems(JSON.stringify(',:[{"\\'.repeat(100)), 100)).toBe(false);
});
