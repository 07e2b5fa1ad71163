import { assert, json, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { CanonicalTexts } from './canonical-texts.ts';
import { canonicalJson, parseJson } from './json.ts';

test('the text is that of canonicalJson, the first time and each further time', () => {
  assert(
    property(json(), nat(3), (text, levels) => {
      const document = parseJson(text);
      const texts = new CanonicalTexts();
      for (let time = 0; time < 2; time += 1)
        expect(texts.of(document, levels)).toBe(canonicalJson(document));
    }),
  );
});

test.each([
  [{ b: 1, a: undefined }, '{"b":1}'],
  [parseJson('{"n":12345678901234567890}'), '{"n":12345678901234567890}'],
  [parseJson('{"__proto__":{"b":1,"a":2}}'), '{"__proto__":{"a":2,"b":1}}'],
])('%j has the text %s', (document, text) => {
  expect([0, 1, 2].map((levels) => new CanonicalTexts().of(document, levels))).toEqual([text, text, text]);
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
  expect([texts.of({ part, x: 1 }, 1), texts.of({ part, x: 2 }, 1)]).toEqual([
    '{"part":{"a":1},"x":1}',
    '{"part":{"a":1},"x":2}',
  ]);
  expect(reads).toBe(1);
});
