/**
 * Reduces waiting events of one object to what a hook needs to know its last state, for bindings with `coalesce: object`.
 * It is pure; queues and hook runs call it.
 */

import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { RunReason } from './binding-context.ts';

type EventReason = Extract<RunReason, { type: 'event' }>;

/** Which of two events of the same object are kept. */
type Kept = 'newer' | 'both' | 'none' | { readonly as: EventReason };

/**
 * Keeps of each object of bindings with `coalesce: object` what a hook needs to know its last state: one event, or a
 * deletion and the creation of a new object. The same list if nothing is to be left out.
 *
 * @param attempted so many reasons at the beginning were given to a run of the hook, which failed: it may know of them
 */
export function coalesceEvents(reasons: readonly RunReason[], attempted = 0): readonly RunReason[] {
  const kept: (RunReason | undefined)[] = [];
  const places = new Map<KubernetesBinding, Map<string, number>>();
  let isChanged = false;
  for (const [index, reason] of reasons.entries()) {
    // A Synchronization shows the hook all objects: what comes after it has nothing to do with what came before.
    if (reason.type === 'synchronization') places.delete(reason.binding);
    if (reason.type !== 'event' || reason.binding.coalesce !== 'object') {
      kept.push(reason);
      continue;
    }
    const objects = places.get(reason.binding) ?? new Map<string, number>();
    places.set(reason.binding, objects);
    const { key } = reason.event;
    const place = objects.get(key);
    const previous = place === undefined ? undefined : (kept[place] as EventReason | undefined);
    const result = previous === undefined ? 'both' : keptOf(previous, reason, (place ?? index) < attempted);
    isChanged ||= result !== 'both';
    if (result === 'both' || place === undefined) {
      objects.set(key, kept.length);
      kept.push(reason);
      continue;
    }
    // The places of others must stay the same.
    if (result === 'none') {
      kept[place] = undefined;
      objects.delete(key);
    } else kept[place] = result === 'newer' ? reason : result.as;
    kept.push(undefined);
  }
  return isChanged ? kept.filter((reason) => reason !== undefined) : reasons;
}

function keptOf(older: EventReason, newer: EventReason, mayBeKnown: boolean): Kept {
  const events = `${older.event.watchEvent} ${newer.event.watchEvent}` as const;
  switch (events) {
    case 'Added Modified':
      return { as: { ...newer, event: { ...newer.event, watchEvent: 'Added' } } };
    case 'Added Deleted':
      return mayBeKnown ? 'newer' : 'none';
    case 'Modified Modified':
    case 'Modified Deleted':
      return 'newer';
    // A new object of the same name, or events between them that do not run the hook.
    case 'Deleted Added':
    case 'Deleted Modified':
    case 'Deleted Deleted':
    case 'Added Added':
    case 'Modified Added':
      return 'both';
  }
}
