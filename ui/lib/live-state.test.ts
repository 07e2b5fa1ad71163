import { expect, test } from 'vitest';
import { afterEvents, EMPTY_STATE, type LiveState } from './live-state.ts';
import type { RunView } from './responses.ts';

function after(state: LiveState, ...events: readonly (readonly [string, unknown])[]): LiveState {
  return afterEvents(
    state,
    events.map(([event, data]) => ({ event, data: JSON.stringify(data), id: '' })),
  );
}

function runs(...ids: readonly number[]): Pick<RunView, 'id'>[] {
  return ids.map((id) => ({ id: String(id) }));
}

const SNAPSHOT = [
  ['hello', { bootId: 'b1', version: '1.0.0' }],
  ['snapshot', { topic: 'queues', data: { queues: [{ name: 'main', length: 1 }] } }],
  ['snapshot', { topic: 'modules', data: { modules: [{ module: 'web' }, { module: 'db' }] } }],
  ['snapshot', { topic: 'runs', data: { runs: runs(3, 2), next: null } }],
  ['snapshot', { topic: 'next', data: { items: [{ text: 'retry' }] } }],
  ['snapshot', { topic: 'headline', data: { level: 'well', text: 'all is well' } }],
] as const;

test('the state is ready only after the last snapshot', () => {
  const state = after(EMPTY_STATE, ...SNAPSHOT);
  expect(state.isReady).toBe(false);
  expect(after(state, ['ready', {}]).isReady).toBe(true);
  expect([...state.modules.keys()]).toEqual(['web', 'db']);
  expect([...state.runs.keys()]).toEqual(['2', '3']);
  expect(state.next).toEqual([{ text: 'retry' }]);
  expect(state.headline).toEqual({ level: 'well', text: 'all is well' });
});

test('changes replace, add and remove single things, and leave the former state as it was', () => {
  const before = after(EMPTY_STATE, ...SNAPSHOT, ['ready', {}]);
  const state = after(
    before,
    ['queue', { name: 'main', length: 0 }],
    ['queue', { name: 'web', length: 4 }],
    ['module-removed', { module: 'db' }],
    ['run', { id: '3', result: 'failed' }],
    ['run', { id: '4' }],
    ['next', { items: [] }],
    ['headline', { level: 'broken', text: 'main waits' }],
    ['of a later version', {}],
  );
  expect([...state.queues.values()]).toEqual([
    { name: 'main', length: 0 },
    { name: 'web', length: 4 },
  ]);
  expect([...state.modules.keys()]).toEqual(['web']);
  expect([...state.runs.values()]).toEqual([{ id: '2' }, { id: '3', result: 'failed' }, { id: '4' }]);
  expect(state.next).toEqual([]);
  expect(before.queues.get('main')).toEqual({ name: 'main', length: 1 });
  expect([...before.modules.keys()]).toEqual(['web', 'db']);
});

test('what has not changed stays the same object, so that nothing is drawn for it', () => {
  const before = after(EMPTY_STATE, ...SNAPSHOT, ['ready', {}]);
  const state = after(before, ['queue', { name: 'main', length: 0 }]);
  expect(state.modules).toBe(before.modules);
  expect(state.runs).toBe(before.runs);
});

test('another start of the operator clears everything; a connection to the same one keeps it', () => {
  const before = after(EMPTY_STATE, ...SNAPSHOT, ['ready', {}]);
  expect(after(before, ['hello', { bootId: 'b1', version: '1.0.0', isResumed: true }])).toEqual(before);
  const other = after(before, ['hello', { bootId: 'b2', version: '1.0.1', isResumed: false }]);
  expect(other).toEqual({ ...EMPTY_STATE, bootId: 'b2', version: '1.0.1' });
});

test('a snapshot replaces its topic, and old runs are forgotten', () => {
  const before = after(EMPTY_STATE, ...SNAPSHOT, ['ready', {}]);
  const state = after(before, ['snapshot', { topic: 'modules', data: { modules: [{ module: 'new' }] } }]);
  expect([...state.modules.keys()]).toEqual(['new']);
  const many = Array.from({ length: 600 }, (_, index) => ['run', { id: String(index + 10) }] as const);
  const ids = [...after(state, ...many).runs.keys()];
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([500, '110', '609']);
});
