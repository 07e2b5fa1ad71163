import { expect, test } from 'vitest';
import { paintFor, wantsColor } from './paint.ts';

test.each([
  [true, {}, true],
  [true, { NO_COLOR: '' }, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
])('wantsColor() on a terminal: %s, with %j', (isTerminal, env, expected) => {
  expect(wantsColor(isTerminal, env)).toBe(expected);
});

test('paintFor() changes nothing without colours', () => {
  expect(paintFor(false)('red', 'text')).toBe('text');
  expect(paintFor(true)('red', 'text')).toBe('\u001b[31mtext\u001b[0m');
});
