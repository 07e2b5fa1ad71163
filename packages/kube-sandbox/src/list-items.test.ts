import { expect, test } from 'vitest';
import { builtInKind } from '../test/api-lab.ts';
import { appliedOrder, itemElement, itemsByElement, sortMerged } from './list-items.ts';
import { MergeType } from './merge-type.ts';

const pod = MergeType.ofKind(builtInKind('Pod'));
const ports = pod.field('spec').field('containers').item.field('ports');
const finalizers = pod.field('metadata').field('finalizers');

test('an element is known by its keys, with their defaults, or by its value', () => {
  expect(itemElement({ containerPort: 80, protocol: 'UDP', name: 'x' }, ports)).toBe(
    'k:{"containerPort":80,"protocol":"UDP"}',
  );
  expect(itemElement({ containerPort: 80 }, ports)).toBe('k:{"containerPort":80,"protocol":"TCP"}');
  expect(itemElement('a', finalizers)).toBe('v:"a"');
});

test('itemsByElement() finds elements by their path elements', () => {
  expect([...itemsByElement(['a', 'b'], finalizers)]).toEqual([
    ['v:"a"', 'a'],
    ['v:"b"', 'b'],
  ]);
});

test('lists with keys and sets are merged, others are not', () => {
  const spec = pod.field('spec');
  expect(ports.isMergedList).toBe(true);
  expect(finalizers.isMergedList).toBe(true);
  expect(spec.field('tolerations').isMergedList).toBe(false);
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
