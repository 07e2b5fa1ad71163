import { expect, test } from 'vitest';
import { reduceEvent } from './reduce-event.ts';

const EVENT = {
  watchEvent: 'Modified',
  key: 'x/p',
  item: {
    object: { kind: 'Pod', metadata: { name: 'p', namespace: 'x', labels: { a: 'b' } }, spec: {} },
    filterResult: 1,
  },
} as const;

test('reduceEvent() keeps what the context of the hook will hold', () => {
  expect(reduceEvent(EVENT, 'v1', {})).toBe(EVENT);
  expect(reduceEvent(EVENT, 'v1', { group: 'g' })).toEqual({ watchEvent: 'Modified', key: 'x/p', item: {} });
  expect(reduceEvent(EVENT, 'v0', {}).item).toEqual({
    object: { kind: 'Pod', metadata: { name: 'p', namespace: 'x' } },
  });
  expect(reduceEvent({ ...EVENT, item: {} }, 'v0', {}).item).toEqual({});
});
