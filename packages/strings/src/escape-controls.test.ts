import { expect, test } from 'vitest';
import { escapeControls, oneLine, readableLine } from './escape-controls.ts';

test.each([
  ['plain ünïcode 🙂 text', 'plain ünïcode 🙂 text'],
  ['a\nb\tc', String.raw`a\u000ab\u0009c`],
  ['a\u202eb\u2066c\u200f', String.raw`a\u202eb\u2066c\u200f`],
  ['\u001b[2J\u009b\u2028', String.raw`\u001b[2J\u009b\u2028`],
])('escapeControls(%j) gives %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});

test('oneLine() joins lines and escapes what a terminal would act on', () => {
  expect(oneLine('\n\tErrors:\n\t- a: \u001b[31mno disk\n')).toBe(String.raw`Errors: - a: \u001b[31mno disk`);
});

test('readableLine() keeps the beginning and the end of a long line', () => {
  expect(readableLine('a'.repeat(4_000))).toBe('a'.repeat(4_000));
  expect(readableLine(`${'a'.repeat(1_000)}${'b'.repeat(1_000_000)}${'c'.repeat(3_000)}`)).toBe(
    `${'a'.repeat(1_000)} … (1000000 characters left out) … ${'c'.repeat(3_000)}`,
  );
});
