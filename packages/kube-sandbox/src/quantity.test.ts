import { expect, test } from 'vitest';
import { parseQuantity } from './quantity.ts';

test.each([
  ['1', 1_000_000_000n],
  ['100m', 100_000_000n],
  ['-1', -1_000_000_000n],
  ['1.5', 1_500_000_000n],
  ['1Ki', 1_024_000_000_000n],
  ['0.5Mi', 524_288_000_000_000n],
  ['1e3', 1_000_000_000_000n],
  ['2E', 2_000_000_000_000_000_000_000_000_000n],
  ['1n', 1n],
  ['0.0000000001', 1n],
])('%s is a quantity', (text, nano) => {
  expect(parseQuantity(text)).toEqual({ nano });
});

test.each([
  ['', 'quantities must match'],
  ['big', 'quantities must match'],
  ['1 Gi', 'quantities must match'],
  ['1GB', 'quantities must match'],
  ['1Qi', 'quantities must match'],
  ['1KM', "unable to parse quantity's suffix"],
])('%s is none', (text, problem) => {
  expect(parseQuantity(text).problem).toContain(problem);
});
