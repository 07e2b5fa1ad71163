import { expect, test } from 'vitest';
import { escapeControls, oneLine } from './escape-controls.ts';

test.each([
  ['plain ünïcode 🙂 text', 'plain ünïcode 🙂 text'],
  ['a\nb\tc', String.raw`a\u000ab\u0009c`],
  ['\u001b[2J\u009b\u2028', String.raw`\u001b[2J\u009b\u2028`],
])('escapeControls(%j) gives %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});

test('oneLine() joins lines and escapes what a terminal would act on', () => {
  expect(oneLine('\n\tErrors:\n\t- a: \u001b[31mno disk\n')).toBe(String.raw`Errors: - a: \u001b[31mno disk`);
});
