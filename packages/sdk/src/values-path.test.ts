import { expect, test } from 'vitest';
import { pointerOf } from './record-hook-run.ts';

test.each([
  ['web', '/web'],
  ['web.a.b', '/web/a/b'],
  ['web.a/b.c~d', '/web/a~1b/c~0d'],
  ['/web/a.b', '/web/a.b'],
  ['web.list.0', '/web/list/0'],
])('pointerOf(%j) is %j', (path, pointer) => {
  expect(pointerOf(path)).toBe(pointer);
});

test.each(['', '.', 'a..b', 'a.', 7 as never])('pointerOf(%j) throws', (path) => {
  expect(() => pointerOf(path)).toThrow(TypeError);
});
