import { expect, test } from 'vitest';
import { refuseUnknown } from './unknown-keys.ts';

test('unknown keys are reported with their place and the known ones', () => {
  const problems: string[] = [];
  refuseUnknown({ a: 1, c: 2 }, ['a', 'b'], '', problems);
  refuseUnknown({ d: 1 }, ['a', 'b'], 'hook.address', problems);
  expect(problems).toEqual([
    'c: unknown key, expected one of a, b',
    'hook.address.d: unknown key, expected one of a, b',
  ]);
});
