/** Replaces equal Events of many modules by one, so that a blocked queue does not fill the list of Events. */

import type { RecordedEvents } from './event-recorder.ts';
import { bounded } from './module-conditions.ts';
import type { EventReason, RecordedEvent } from './module-events.ts';

/** Reasons of Events that often concern many modules at once. */
const SHARED: ReadonlySet<EventReason> = new Set(['HeldUp', 'Recovered', 'Paused', 'Resumed']);
/** For fewer modules each gets an Event of its own. */
const MANY = 6;

/**
 * Events of one look, with a single one for what happened to many modules for one reason, such as a blocked queue `main`: it is about
 * the first of them and names their number. The conditions of each module say it all the same.
 *
 * @param recorded in run order
 */
export function withoutRepetitions(recorded: readonly RecordedEvents[]): readonly RecordedEvents[] {
  const counts = new Map<string, number>();
  for (const { events } of recorded)
    for (const event of events) {
      const key = keyOf(event);
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const seen = new Set<string>();
  return recorded.map(({ object, events }) => ({
    object,
    events: events.flatMap((event) => {
      const key = keyOf(event);
      const count = key === undefined ? 1 : (counts.get(key) ?? 1);
      if (key === undefined || count < MANY) return [event];
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...event, message: bounded(`This and ${count - 1} other modules: ${event.message}`) }];
    }),
  }));
}

function keyOf({ reason, message }: RecordedEvent): string | undefined {
  return SHARED.has(reason) ? `${reason}\n${message}` : undefined;
}
