import { array, assert, constantFrom, nat, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { v1 } from '../../test/support/hook-configs.ts';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { RunReason } from './binding-context.ts';
import { coalesceEvents } from './coalesce-events.ts';

const { kubernetes } = await v1({
  kubernetes: [
    { kind: 'Pod', name: 'last', coalesce: 'object' },
    { kind: 'Pod', name: 'all' },
  ],
});
const [last, all] = kubernetes as [KubernetesBinding, KubernetesBinding];

type Word = 'Added' | 'Modified' | 'Deleted';

function event(word: Word, state = 0, key = '/a', binding = last): RunReason {
  return { type: 'event', binding, event: { watchEvent: word, key, item: { filterResult: state } } };
}

function wordsOf(reasons: readonly RunReason[]): readonly string[] {
  return reasons.map((reason) =>
    reason.type === 'event'
      ? `${reason.event.watchEvent} ${String(reason.event.item.filterResult)}`
      : reason.type,
  );
}

test.each<[readonly Word[], readonly string[]]>([
  [['Added', 'Modified'], ['Added 1']],
  [['Added', 'Modified', 'Modified'], ['Added 2']],
  [['Added', 'Deleted'], []],
  [['Added', 'Modified', 'Deleted'], []],
  [['Modified', 'Modified'], ['Modified 1']],
  [['Modified', 'Deleted'], ['Deleted 1']],
  [
    ['Deleted', 'Added'],
    ['Deleted 0', 'Added 1'],
  ],
  [
    ['Deleted', 'Added', 'Modified'],
    ['Deleted 0', 'Added 2'],
  ],
  [['Deleted', 'Added', 'Deleted'], ['Deleted 0']],
  [
    ['Deleted', 'Added', 'Deleted', 'Added'],
    ['Deleted 0', 'Added 3'],
  ],
])('of the events %j of an object %j is kept', (words, kept) => {
  expect(wordsOf(coalesceEvents(words.map((word, state) => event(word, state))))).toEqual(kept);
});

test('a deletion is kept if a run may have seen the object before it failed', () => {
  const reasons = [event('Added', 0), event('Deleted', 1)];
  expect(wordsOf(coalesceEvents(reasons, 1))).toEqual(['Deleted 1']);
});

test('events of other bindings, ticks and what comes before a Synchronization are not touched', () => {
  const reasons: RunReason[] = [
    event('Modified', 0, '/a', all),
    event('Modified', 1, '/a', all),
    event('Modified', 2),
    { type: 'synchronization', binding: last },
    event('Modified', 3),
  ];
  expect(coalesceEvents(reasons)).toBe(reasons);
});

const anySteps = array(record({ object: constantFrom('/a', '/b', '/c'), deletes: nat({ max: 2 }) }), {
  maxLength: 40,
});

test('in any history, and cut anywhere into runs, a hook ends with the state of the store', () => {
  assert(
    property(anySteps, array(nat({ max: 40 }), { maxLength: 4 }), nat({ max: 40 }), (steps, cuts, failed) => {
      const store = new Map<string, number>();
      const events = steps.flatMap(({ object, deletes }, state): readonly RunReason[] => {
        const known = store.get(object);
        if (deletes === 0 && known !== undefined) {
          store.delete(object);
          return [event('Deleted', known, object)];
        }
        store.set(object, state);
        return [event(known === undefined ? 'Added' : 'Modified', state, object)];
      });
      const seen = new Map<string, unknown>();
      const give = (reasons: readonly RunReason[]): void => {
        for (const reason of reasons) {
          if (reason.type !== 'event') continue;
          const { key, watchEvent, item } = reason.event;
          // Each context fits to what the hook knows.
          expect(seen.has(key)).toBe(watchEvent !== 'Added');
          if (watchEvent === 'Deleted') seen.delete(key);
          else seen.set(key, item.filterResult);
        }
      };
      let begin = 0;
      for (const end of [...cuts.toSorted((a, b) => a - b), events.length]) {
        give(coalesceEvents(coalesceEvents(events.slice(begin, Math.max(begin, end)))));
        begin = Math.max(begin, end);
      }
      expect(seen).toEqual(store);
      // After a run that failed, deletions of what it may have seen are not lost.
      const kept = coalesceEvents(events, failed);
      for (const key of ['/a', '/b', '/c']) {
        const words = kept.flatMap((reason) =>
          reason.type === 'event' && reason.event.key === key ? [reason.event.watchEvent] : [],
        );
        expect(words.length === 0 || (words.at(-1) === 'Deleted') === !store.has(key)).toBe(true);
      }
    }),
  );
});
