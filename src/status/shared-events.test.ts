import { expect, test } from 'vitest';
import type { RecordedEvents } from './event-recorder.ts';
import type { RecordedEvent } from './module-events.ts';
import type { ModuleObject } from './module-object.ts';
import { withoutRepetitions } from './shared-events.ts';

const HELD: RecordedEvent = { type: 'Warning', reason: 'HeldUp', message: 'QueueBlocked: a.sh fails' };
const DEPLOYED: RecordedEvent = { type: 'Normal', reason: 'Deployed', message: 'Revision 1' };

function recorded(count: number, events: readonly RecordedEvent[]): readonly RecordedEvents[] {
  return Array.from({ length: count }, (_, index) => ({
    object: { name: `m${index}` } as ModuleObject,
    events,
  }));
}

test('what holds up many modules is one Event, which names their number', () => {
  const kept = withoutRepetitions(recorded(500, [HELD, DEPLOYED]));
  const held = kept.flatMap(({ events }) => events.filter(({ reason }) => reason === 'HeldUp'));
  expect(held).toEqual([{ ...HELD, message: 'This and 499 other modules: QueueBlocked: a.sh fails' }]);
  expect(kept[0]?.events).toContainEqual(held[0]);
  expect(kept.filter(({ events }) => events.includes(DEPLOYED))).toHaveLength(500);
});

test('a few modules, and different reasons, have Events of their own', () => {
  expect(withoutRepetitions(recorded(5, [HELD]))).toEqual(recorded(5, [HELD]));
  const different = recorded(10, []).map((one, index) => ({
    ...one,
    events: [{ ...HELD, message: `waits for ${index}` }],
  }));
  expect(withoutRepetitions(different)).toEqual(different);
});
