import { expect, test } from 'vitest';
import { filterResult } from './jq-engine.ts';

test.each<[readonly unknown[], unknown]>([
  [[], null],
  [[null], null],
  [[1], 1],
  [[[1, 2]], [1, 2]],
  [
    [1, 2],
    [1, 2],
  ],
])('filterResult() makes of the outputs %j the result %j', (outputs, result) => {
  expect(filterResult(outputs)).toEqual(result);
});
