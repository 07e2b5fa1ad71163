import { expect, test } from 'vitest';
import { xmlText } from './xml-text.ts';

test.each([
  ['plain text, with tabs\t', 'plain text, with tabs\t'],
  ['<a b="c">&amp;</a>', '&lt;a b=&quot;c&quot;&gt;&amp;amp;&lt;/a&gt;'],
  ['two\nlines', 'two&#10;lines'],
  ['\u{0}\u{1b}[31m\r', '\u{fffd}\u{fffd}[31m\u{fffd}'],
  ['half of a pair: \u{d83d}', 'half of a pair: \u{fffd}'],
  ['\u{1f600}', '\u{1f600}'],
])('xmlText(%j) returns %j', (text, escaped) => {
  expect(xmlText(text)).toBe(escaped);
});
