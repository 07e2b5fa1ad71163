import { expect, test } from 'vitest';
import { escapeControls } from './escape-controls.ts';

test.each([
  ['plain ünïcode 🙂 text', 'plain ünïcode 🙂 text'],
  ['a\nb\tc', String.raw`a\u000ab\u0009c`],
  ['\u001b[2J\u009b\u2028', String.raw`\u001b[2J\u009b\u2028`],
])('escapeControls(%j) gives %j', (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});
