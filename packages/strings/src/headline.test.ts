import { expect, test } from 'vitest';
import { headlineOf, linesBelow, withLinesBelow, withRemark } from './headline.ts';

const MESSAGE = withLinesBelow('hook a.sh failed: no disk', 'trying\n  sda\nno disk');

test('the headline of a message is its sentence, and what a program printed stays as lines', () => {
  expect(headlineOf(MESSAGE)).toBe('hook a.sh failed: no disk');
  expect(linesBelow(MESSAGE)).toBe('trying\n  sda\nno disk');
});

test('a single line is not repeated below the sentence', () => {
  const message = withLinesBelow('hook a.sh failed: no disk', 'no disk');
  expect(message).toBe('hook a.sh failed: no disk');
  expect([headlineOf(message), linesBelow(message)]).toEqual([message, '']);
});

test('a remark belongs to the headline', () => {
  const message = withRemark(MESSAGE, '; it is retried');
  expect(headlineOf(message)).toBe('hook a.sh failed: no disk; it is retried');
  expect(linesBelow(message)).toBe(linesBelow(MESSAGE));
  expect(withRemark('failed', '; it is retried')).toBe('failed; it is retried');
});

test('words in front of a message come in front of its headline', () => {
  expect(headlineOf(`run hooks by binding beforeHelm: ${MESSAGE}`)).toBe(
    'run hooks by binding beforeHelm: hook a.sh failed: no disk',
  );
});
