import { expect, test } from 'vitest';
import { EventBacklog, reduceEvent, type WaitingEvent } from './event-backlog.ts';

const OWNER = { module: 'web', hook: 'a.sh' };
const BINDING = {};
const LIMIT_BYTES = 100_000;

/** Events that wait in one row, as in one queue, and how a test adds and takes them. */
function backlogLab() {
  const limits: number[] = [];
  let droppedEvents = 0;
  const backlog = new EventBacklog({
    limitBytes: LIMIT_BYTES,
    onLimit: ({ waitingBytes }) => limits.push(waitingBytes),
    onDrop: (_labels, events) => {
      droppedEvents += events;
    },
  });
  let row: WaitingEvent[] = [];
  let searches = 0;
  const take = (count: number): readonly WaitingEvent[] => {
    const taken = row.splice(0, count);
    backlog.change(-backlog.bytesOf(taken.map(({ event }) => event)));
    return taken;
  };
  backlog.hold({
    rows: () => {
      searches += 1;
      return [row];
    },
    drop: (events) => {
      const left = row.filter(({ event }) => events.has(event));
      row = row.filter(({ event }) => !events.has(event));
      backlog.change(-backlog.bytesOf(left.map(({ event }) => event)));
    },
  });
  return {
    backlog,
    limits,
    take,
    add: (key: string, state: number) => {
      const event = {
        watchEvent: 'Modified',
        key,
        item: { filterResult: [state, 'x'.repeat(1_000)] },
      } as const;
      row.push({ event, binding: BINDING, ...OWNER });
      backlog.change(backlog.bytesOf([event]));
      backlog.relieve();
    },
    states: () =>
      row.map(({ event }) => `${event.key}${String((event.item.filterResult as readonly unknown[])[0])}`),
    searches: () => searches,
    dropped: () => droppedEvents,
  };
}

test('the backlog drops the oldest superseded states beyond its limit, down to three quarters of it', () => {
  const lab = backlogLab();
  lab.add('only', 0);
  for (let state = 0; state < 100; state += 1) lab.add('many', state);
  expect(lab.backlog.heldBytes).toBeLessThanOrEqual(LIMIT_BYTES);
  expect(lab.backlog.heldBytes).toBeGreaterThan(LIMIT_BYTES / 2);
  expect(lab.states()[0]).toBe('only0');
  const kept = lab.states().slice(1);
  expect(kept).toEqual(Array.from(kept, (_, index) => `many${100 - kept.length + index}`));
  expect(lab.dropped()).toBe(100 - kept.length);
});

test('the backlog never drops a last state, reports that once, and does not search again for each event', () => {
  const lab = backlogLab();
  for (let object = 0; object < 200; object += 1) lab.add(`o${object}-`, 0);
  expect([lab.states().length, lab.dropped(), lab.limits.length]).toEqual([200, 0, 1]);
  expect(lab.backlog.heldBytes).toBeGreaterThan(2 * LIMIT_BYTES);
  expect(lab.searches()).toBeLessThan(30);
});

test('the backlog reports its limit again, when it was below half of it in between', () => {
  const lab = backlogLab();
  const fill = (): void => {
    for (let state = 0; state < 100; state += 1) lab.add('o', state);
  };
  fill();
  lab.take(10);
  fill();
  expect(lab.limits).toHaveLength(1);
  lab.take(lab.states().length);
  expect(lab.backlog.heldBytes).toBe(0);
  fill();
  expect(lab.limits).toHaveLength(2);
});

test('what cannot be dropped counts, when it is held outside of the rows', () => {
  const lab = backlogLab();
  lab.backlog.change(LIMIT_BYTES);
  for (let state = 0; state < 50; state += 1) lab.add('o', state);
  expect(lab.backlog.heldBytes).toBeLessThan(LIMIT_BYTES * 1.1);
  expect(lab.states().at(-1)).toBe('o49');
  lab.backlog.change(-LIMIT_BYTES);
  expect(lab.backlog.heldBytes).toBeLessThan(LIMIT_BYTES / 10);
});

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

test('the backlog searches a holder that is released no more', () => {
  const lab = backlogLab();
  let searches = 0;
  const holder = {
    rows: () => {
      searches += 1;
      return [];
    },
    drop: () => undefined,
  };
  lab.backlog.hold(holder);
  lab.backlog.release(holder);
  for (let state = 0; state < 200; state += 1) lab.add('/a', state);
  expect([lab.limits.length > 0, searches]).toEqual([true, 0]);
});
