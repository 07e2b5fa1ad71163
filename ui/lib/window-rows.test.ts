import { expect, test } from 'vitest';
import { rowWindow } from './window-rows.ts';

test('a table of 200 rows is shown whole', () => {
  expect(rowWindow(200, 40, 5_000, 800)).toEqual({ first: 0, end: 200, before: 0, after: 0 });
});

test('of a longer one only the rows that are seen, and some more, are in the document', () => {
  expect(rowWindow(500, 40, -300, 800)).toEqual({ first: 0, end: 32, before: 0, after: 468 * 40 });
  expect(rowWindow(500, 40, 4_000, 800)).toEqual({ first: 88, end: 132, before: 3_520, after: 368 * 40 });
});

test('every row that is seen is there, and the height stays the same, wherever one scrolls', () => {
  for (let top = -2_000; top < 30_000; top += 137) {
    const { first, end, before, after } = rowWindow(500, 40, top, 800);
    expect(before + (end - first) * 40 + after).toBe(500 * 40);
    expect(first * 40).toBeLessThanOrEqual(Math.max(0, top));
    expect(end * 40).toBeGreaterThanOrEqual(Math.min(500 * 40, top + 800));
  }
});
