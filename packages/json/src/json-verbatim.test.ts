import { expect, test } from 'vitest';
import { isObject, parseJsonVerbatim } from './json.ts';

test('numbers are written back as they were read', () => {
  const text = '{"a":[1.0,1e3,9007199254740993,-0,0.1,7],"b":"1.0","__proto__":{"c":1.50}}';
  const parsed = parseJsonVerbatim(text);
  expect(JSON.stringify(parsed)).toBe(text);
  expect(isObject(parsed) && Object.hasOwn(parsed, '__proto__')).toBe(true);
});

test('numbers that keep their form stay numbers', () => {
  expect(parseJsonVerbatim('[1,2.5]')).toEqual([1, 2.5]);
});
