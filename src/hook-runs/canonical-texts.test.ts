import { canonicalJson, parseJson } from '@addon-operator/json';
import { assert, json, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { CanonicalTexts } from './canonical-texts.ts';

test('the text is that of canonicalJson, for each version of a document', () => {
  assert(
    property(json(), json(), nat(3), (one, other, levels) => {
      const texts = new CanonicalTexts();
      for (const text of [one, one, other, one]) {
        const document = parseJson(text);
        expect(texts.of('it', document, levels)).toBe(canonicalJson(document));
      }
    }),
  );
});

test.each([
  [{ b: 1, a: undefined }, '{"b":1}'],
  [parseJson('{"n":12345678901234567890}'), '{"n":12345678901234567890}'],
  [parseJson('{"__proto__":{"b":1,"a":2}}'), '{"__proto__":{"a":2,"b":1}}'],
])('%j has the text %s', (document, text) => {
  expect([0, 1, 2].map((levels) => new CanonicalTexts().of('it', document, levels))).toEqual([
    text,
    text,
    text,
  ]);
});

test('a part that comes again in another document is not looked at again', () => {
  let reads = 0;
  const part = {
    get a() {
      reads += 1;
      return 1;
    },
  };
  const texts = new CanonicalTexts();
  expect([texts.of('it', { part, x: 1 }, 1), texts.of('it', { part, x: 2 }, 1)]).toEqual([
    '{"part":{"a":1},"x":1}',
    '{"part":{"a":1},"x":2}',
  ]);
  expect(reads).toBe(1);
});

test('of many documents the last ones are kept, and each has its text all the same', () => {
  const texts = new CanonicalTexts();
  const names = Array.from({ length: 40 }, (_, index) => `document ${index}`);
  for (const name of [...names, ...names])
    expect(texts.of(name, { name, a: { b: [] } }, 2)).toBe(`{"a":{"b":[]},"name":"${name}"}`);
});

test.each([
  ['a key more', { a: 1, b: 1 }],
  ['a key less', {}],
  ['another key', { b: 1 }],
  ['another type', []],
  ['a value that is undefined', { a: undefined }],
])('a version with %s has its own text', (_case, document) => {
  const texts = new CanonicalTexts();
  texts.of('it', { a: 1 }, 1);
  expect(texts.of('it', document, 1)).toBe(canonicalJson(document));
});
