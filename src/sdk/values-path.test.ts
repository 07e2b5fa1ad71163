import { expect, test } from 'vitest';
import { pointerOf, valueAt } from './values-path.ts';

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

test('valueAt() finds what stands at a pointer, and nothing that is inherited', () => {
  const document = { web: { list: [{ 'a/b': 1 }], none: null } };
  expect(valueAt(document, '/web/list/0/a~1b')).toBe(1);
  expect(valueAt(document, '/web/none')).toBeNull();
  expect(valueAt(document, '/web/none/x')).toBeUndefined();
  expect(valueAt(document, '/web/toString')).toBeUndefined();
  expect(valueAt(document, '/web/list/length')).toBeUndefined();
});
