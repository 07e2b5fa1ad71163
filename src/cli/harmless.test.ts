import { expect, test } from 'vitest';
import { harmless, harmlessData } from './harmless.ts';

const EVIL = '\u001b[2Ja\r\u009b31m\u2028\tb\nc\u0007';

test('control characters are escaped, and lines and tabs stay', () => {
  expect(harmless(EVIL)).toBe('\\u001b[2Ja\\u000d\\u009b31m\\u2028\tb\nc\\u0007');
  expect(harmless('plain\n')).toBe('plain\n');
});

test('data keeps its shape', () => {
  const data = { list: ['\u0007', 1, null, { deep: '\u0007' }], is: true };
  expect(harmlessData(data)).toEqual({ list: ['\\u0007', 1, null, { deep: '\\u0007' }], is: true });
});
