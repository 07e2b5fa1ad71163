import { expect, test } from 'vitest';
import { yamlDocuments } from './yaml-documents.ts';

test.each([
  ['a: 1\n', [['a: 1\n', 1]]],
  ['', [['', 1]]],
  [
    'a: 1\n--- # next\nb: 2\n',
    [
      ['a: 1\n', 1],
      ['\n # next\nb: 2\n', 2],
    ],
  ],
  [
    '---\na: 1\n---\n---\nb: 2',
    [
      ['', 1],
      ['\na: 1\n', 1],
      ['\n\n\n', 3],
      ['\n\n\n\nb: 2', 4],
    ],
  ],
  ['a: "--- no"\n----\n', [['a: "--- no"\n----\n', 1]]],
])('the documents of %j keep their lines', (text, expected) => {
  expect([...yamlDocuments(text)].map((document) => [document.text, document.line])).toEqual(expected);
});
