import { expect, test } from 'vitest';
import { appliedOrder, isMergedList, itemElement, itemsByElement, sortMerged } from './list-items.ts';

test('an element is known by its keys, with their defaults, or by its value', () => {
  const ports = { keys: ['containerPort', 'protocol'] };
  expect(itemElement({ containerPort: 80, name: 'http' }, ports)).toBe(
    'k:{"containerPort":80,"protocol":"TCP"}',
  );
  expect(itemElement({ name: 'a' }, { keys: ['name'] })).toBe('k:{"name":"a"}');
  expect(itemElement('x', { set: true })).toBe('v:"x"');
});

test('itemsByElement() finds elements in lists only', () => {
  expect(itemsByElement([{ name: 'a', v: 1 }], { keys: ['name'] })?.get('k:{"name":"a"}')).toEqual({
    name: 'a',
    v: 1,
  });
  expect(itemsByElement({}, { set: true })).toBeUndefined();
});

test('lists with keys and sets are merged, others are not', () => {
  expect([isMergedList({ keys: ['a'] }), isMergedList({ set: true }), isMergedList({ type: 'X' })]).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'b'],
    ['b', 'a'],
  ],
  [
    ['a', 'b', 'c'],
    ['c', 'b'],
    ['a', 'b'],
    ['c', 'a', 'b'],
  ],
  [['a', 'b'], ['n'], ['a', 'b'], ['a', 'b']],
  [['n', 'a', 'b'], ['n'], ['a', 'b'], ['n', 'a', 'b']],
  [['a', 'b', 'c'], [], ['a', 'b', 'c'], ['a', 'b', 'c']],
])('sortMerged(%j) by %j, once %j, is %j', (items, order, oldOrder, expected) => {
  expect(sortMerged(items, order, oldOrder, (item) => item)).toEqual(expected);
});

test.each([
  [['a', 'b'], ['c'], ['a', 'b', 'c']],
  [
    ['a', 'b', 'c'],
    ['c', 'a'],
    ['b', 'c', 'a'],
  ],
  [
    ['a', 'b'],
    ['a', 'n', 'b'],
    ['a', 'n', 'b'],
  ],
  [
    ['x', 'a'],
    ['n', 'a'],
    ['x', 'n', 'a'],
  ],
  [[], ['a'], ['a']],
])('applying to %j the list %j gives %j', (live, applied, expected) => {
  expect(appliedOrder(live, applied)).toEqual(expected);
});
