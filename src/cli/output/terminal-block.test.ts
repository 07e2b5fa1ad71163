import { expect, test } from 'vitest';
import { TerminalBlock } from './terminal-block.ts';

test('TerminalBlock draws over itself, in one write, and not at all when nothing changed', () => {
  const written: string[] = [];
  const block = new TerminalBlock({ write: (text: string) => void written.push(text) });
  block.draw(['a', 'b']);
  block.draw(['a', 'b']);
  block.draw(['c']);
  block.writeAbove('note');
  block.release();
  block.draw(['d']);
  expect(written).toEqual([
    'a\u001b[K\nb\u001b[K\n\u001b[J',
    '\u001b[2A\rc\u001b[K\n\u001b[J',
    '\u001b[1A\rnote\u001b[K\nc\u001b[K\n\u001b[J',
    'd\u001b[K\n\u001b[J',
  ]);
});
