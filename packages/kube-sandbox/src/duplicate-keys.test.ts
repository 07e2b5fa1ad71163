import { expect, test } from 'vitest';
import { duplicateKeys } from './duplicate-keys.ts';

test.each([
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"a":{"b":1,"c":2,"b":3}}', ['a.b']],
  ['{"a":[{"b":1},{"b":1,"b":2}]}', ['a[1].b']],
  ['{"a":[[{"b":1,"b":2}]],"a":1}', ['a[0][0].b', 'a']],
  ['{"a":"a","b":"b:{}[],\\"a\\"","c":["a","a"]}', []],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['[1,2]', []],
])('%s repeats %j', (text, expected) => {
  expect(duplicateKeys(text)).toEqual(expected);
});
