import { expect, test } from 'vitest';
import { isOlderVersion } from './kube-object.ts';

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['9007199254740993', '9007199254740994', true],
  ['abc', '10', false],
  ['10', '', false],
])('isOlderVersion(%j, %j) is %j', (a, b, expected) => {
  expect(isOlderVersion(a, b)).toBe(expected);
});
