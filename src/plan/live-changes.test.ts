import { expect, test } from 'vitest';
import { withoutDropped } from './live-changes.ts';

test.each([
  ['a field that the chart set', { a: 1, b: 2 }, { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
  ['no field that others set', { a: 1, theirs: 2 }, { a: 1 }, { a: 1 }, { a: 1, theirs: 2 }],
  ['a whole map', { m: { x: 1 }, a: 1 }, { m: { x: 1 }, a: 1 }, { a: 1 }, { a: 1 }],
  ['all but what others set in a map', { m: { x: 1, y: 2 } }, { m: { x: 1 } }, {}, { m: { y: 2 } }],
  [
    'an item with a name',
    { list: [{ name: 'a' }, { name: 'b' }, { name: 'theirs' }] },
    { list: [{ name: 'a' }, { name: 'b' }] },
    { list: [{ name: 'a' }] },
    { list: [{ name: 'a' }, { name: 'theirs' }] },
  ],
  [
    'a field of an item with a name',
    { list: [{ name: 'a', x: 1 }] },
    { list: [{ name: 'a', x: 1 }] },
    { list: [{ name: 'a' }] },
    { list: [{ name: 'a' }] },
  ],
  ['nothing from lists of values', { list: [1, 2] }, { list: [1] }, { list: [2] }, { list: [1, 2] }],
])('withoutDropped() takes away %s', (_what, after, deployed, wanted, expected) => {
  expect(withoutDropped(after, deployed, wanted)).toEqual(expected);
});
