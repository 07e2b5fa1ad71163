import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { readFlowAtAnyColumn } from './yaml-flow-columns.ts';

const read = (text: string): unknown => readFlowAtAnyColumn(text, (parsed) => load(parsed));

test.each<[string, string, unknown]>([
  ['a bracket below its key', 'a: [\n  1,\n  2\n]\nb: 3\n', { a: [1, 2], b: 3 }],
  ['a brace below its key', 'x:\n  a: {\n    b: c\n  }\n  d: e\n', { x: { a: { b: 'c' }, d: 'e' } }],
  [
    'everything at the first column',
    'x:\n  a: {\n"b": [\n1\n],\n"c": d\n}\n',
    { x: { a: { b: [1], c: 'd' } } },
  ],
  ['entries of a list', 'x:\n- {\na: b\n}\n- - [\n1]\n', { x: [{ a: 'b' }, [[1]]] }],
  ['text between quotes', 'a: "one\ntwo\n\nthree"\nb: \'x\ny\'\n', { a: 'one two\nthree', b: 'x y' }],
  ['plain text of several lines', 'a: [one\ntwo, three]\n', { a: ['one two', 'three'] }],
  ['tabs', 'x:\n  a: {\n\t"b": 1\n\t}\n', { x: { a: { b: 1 } } }],
  [
    'tabs between words, while those between quotes stay',
    'a: {"k\tl":\t"v\tw",\t m: [\t1,\t\t2\t]}\nb:\t[c]\nd:\n- {e: f,\tg: h}\t# i\n',
    { a: { 'k\tl': 'v\tw', m: [1, 2] }, b: ['c'], d: [{ e: 'f', g: 'h' }] },
  ],
  ['comments and blank lines between', 'a: [ # first\n\n# second\n1\n# third\n]\n', { a: [1] }],
  ['carriage returns', 'a: {\r\n  b: c\r\n}\r\n', { a: { b: 'c' } }],
  ['a block text behind', 'a: {\n}\nb: |\n  {\n  x: [\n  ]\n', { a: {}, b: '{\nx: [\n]\n' }],
])('lines may begin at any column: %s', (_title, text, value) => {
  expect(read(text)).toEqual(value);
});

test('a text that is as YAML has it is parsed once', () => {
  let count = 0;
  readFlowAtAnyColumn('a: [\n  1]\n', () => (count += 1));
  expect(count).toBe(1);
});

test.each([
  ['a quote without its end', 'a: "b\nc: d\ne: f\n', /deficient indentation \(2:1\)/],
  ['another mistake behind', 'a: [\n]\nb: c\n d: e\n', /bad indentation of a mapping entry \(4:/],
  ['the mark of a document between brackets', 'a: [\n---\n]\n', /deficient indentation \(2:1\)/],
])('a mistake is reported with its line: %s', (_title, text, message) => {
  expect(() => read(text)).toThrow(message);
});

test.each([
  ['a:\n\tb: 1', 2],
  ['a:\n  b: 1\n\tc: 2', 3],
  ['a:\n  - x\n\t- y', 3],
  ['a:\n  b:\n  \tc: 1', 3],
  ['\ta: 1', 1],
  ['a:\n \t- x', 2],
  ['- a: 1\n\tb: 2', 2],
  ['a: [\n]\nb:\n\tc: 1', 4],
])('a tab as indentation is named: %j', (text, line) => {
  const message = `tab characters must not be used in indentation: write spaces (${line}:`;
  expect(() => read(text)).toThrow(message);
});

test.each(['a: [\n\t1 2: 3 }', 'a: {\n\tb: 1\n\t]', 'a: b\n c: d'])(
  'a tab is not named where it is not the mistake: %j',
  (text) => {
    expect(() => read(text)).toThrow(/^(?!.*tab char)/);
  },
);

test('a text of very many such lines is refused before it takes long', () => {
  const text = `a: "${'x\n'.repeat(20_000)}"\n`;
  expect(() => read(text)).toThrow('deficient indentation');
});
