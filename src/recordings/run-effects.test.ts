import { expect, test } from 'vitest';
import { bySeries, type RunEffects, sameEffects } from './run-effects.ts';

const NOTHING: RunEffects = { operations: [], values: {}, configValues: {}, flags: [], metrics: [] };
const set = (name: string, value: number, group?: string) => ({
  action: 'set',
  name,
  value,
  labels: {},
  ...(group !== undefined && { group }),
});
const add = (name: string, value: number) => ({ action: 'add', name, value, labels: {} });

test.each<[string, Partial<RunEffects>, Partial<RunEffects>, boolean]>([
  ['nothing', {}, {}, true],
  ['keys in another order', { values: { a: 1, b: 2 } }, { values: { b: 2, a: 1 } }, true],
  ['other values', { values: { a: 1 } }, { values: { a: 2 } }, false],
  ['operations in another order', { operations: [1, 2] }, { operations: [2, 1] }, false],
  [
    'series in another order',
    { metrics: [set('a', 1), set('b', 2)] },
    { metrics: [set('b', 2), set('a', 1)] },
    true,
  ],
  ['a series set twice', { metrics: [set('a', 1), set('a', 2)] }, { metrics: [set('a', 2)] }, true],
  ['an amount in two parts', { metrics: [add('a', 1), add('a', 2)] }, { metrics: [add('a', 3)] }, true],
  ['another amount', { metrics: [add('a', 1)] }, { metrics: [add('a', 3)] }, false],
  [
    'what expired',
    { metrics: [set('a', 1, 'g'), { action: 'expire', group: 'g' }, set('a', 2, 'g')] },
    { metrics: [{ action: 'expire', group: 'g' }, set('a', 2, 'g')] },
    true,
  ],
  ['undefined and absent', { admission: undefined }, {}, true],
])('%s: same is %s', (_what, a, b, expected) => {
  expect(sameEffects({ ...NOTHING, ...a }, { ...NOTHING, ...b })).toBe(expected);
});

test('observations of a series stay in order', () => {
  const observe = (value: number) => ({ action: 'observe', name: 'a', value, buckets: [1] });
  expect(bySeries([observe(2), observe(1)])).toMatchObject([{ name: 'a', value: [2, 1], buckets: [1] }]);
});
