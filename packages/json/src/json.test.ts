import { array, assert, oneof, property, string, stringMatching } from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalJson,
  fieldsOf,
  hasLongDigits,
  isObject,
  isRawJson,
  parseJson,
  stringOf,
  stringsOf,
} from './json.ts';

test('parseJson() keeps integers that a double would change as they were written', () => {
  const text = '{"big":12345678901234567890,"small":1,"float":0.12345678901234567}';
  const value = fieldsOf(parseJson(text));
  expect(isRawJson(value['big'])).toBe(true);
  expect(isObject(value['big'])).toBe(false);
  expect(JSON.stringify(value['big'])).toBe('12345678901234567890');
  expect(value['small']).toBe(1);
});

test('hasLongDigits() finds 16 digits in a row at every place, and no shorter ones', () => {
  const digits = '0123456789'.repeat(4);
  for (let count = 0; count <= 40; count += 1)
    for (let before = 0; before <= 40; before += 1)
      for (const after of ['', ':', '/'.repeat(20)]) {
        const text = `${'x'.repeat(before)}${digits.slice(0, count)}${after}`;
        expect([text, hasLongDigits(text)]).toEqual([text, count >= 16]);
      }
});

test('hasLongDigits() says the same as a pattern, for any text', () => {
  const piece = oneof(stringMatching(/^\d{0,18}$/), string({ maxLength: 18 }));
  assert(
    property(array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      expect(hasLongDigits(text)).toBe(/[0-9]{16}/.test(text));
    }),
    { numRuns: 2_000 },
  );
});

test('canonicalJson() sorts keys at every level, odd ones included', () => {
  expect(canonicalJson(JSON.parse('{"b":[{"d":1,"c":2}],"__proto__":3,"a":null}'))).toBe(
    '{"__proto__":3,"a":null,"b":[{"c":2,"d":1}]}',
  );
  expect(canonicalJson(undefined)).toBe('null');
});

test('fieldsOf(), stringOf() and stringsOf() take anything, and give what is of use', () => {
  for (const odd of [undefined, null, 1, true, ['a'], 'a']) expect(fieldsOf(odd)).toEqual({});
  expect(fieldsOf({ a: 1 })).toEqual({ a: 1 });
  expect([stringOf('a'), stringOf(1), stringOf(undefined), stringOf({})]).toEqual(['a', '', '', '']);
  expect([stringsOf(['a', 1, 'b', null]), stringsOf('a'), stringsOf(undefined)]).toEqual([
    ['a', 'b'],
    [],
    [],
  ]);
});
