import { canonicalJson, isObject } from '../../lib/json.ts';
import { formatPointer } from '../../lib/json-pointer.ts';

/** Fields of `metadata` that the server keeps for itself. */
const BOOKKEEPING = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp']);

/**
 * JSON pointers into the live object, of all that would change if `desired` were applied, sorted. Only fields that
 * `desired` has count: whatever the server, or a webhook, does elsewhere on a write is not drift.
 *
 * @param applied the object as the server says it would be after applying
 */
export function driftedFields(desired: unknown, live: unknown, applied: unknown): readonly string[] {
  const found: string[] = [];
  collect(desired, live, applied, [], found);
  return found.toSorted();
}

function collect(
  desired: unknown,
  live: unknown,
  applied: unknown,
  path: readonly string[],
  found: string[],
): void {
  if (isObject(desired) && isObject(applied) && isObject(live)) {
    for (const key of Object.keys(desired)) {
      if (path.length === 1 && path[0] === 'metadata' && BOOKKEEPING.has(key)) continue;
      if (path.length === 0 && key === 'status') continue;
      collect(desired[key], live[key], applied[key], [...path, key], found);
    }
  } else if (Array.isArray(applied) && Array.isArray(live) && applied.length === live.length) {
    applied.forEach((item: unknown, index) => {
      compare(live[index], item, [...path, String(index)], found);
    });
  } else if (canonicalJson(live) !== canonicalJson(applied)) {
    found.push(formatPointer(path));
  }
}

/** Inside of lists every difference counts: which item was whose cannot be told there. */
function compare(live: unknown, applied: unknown, path: readonly string[], found: string[]): void {
  if (isObject(live) && isObject(applied)) {
    for (const key of new Set([...Object.keys(live), ...Object.keys(applied)]))
      compare(live[key], applied[key], [...path, key], found);
  } else {
    collect(undefined, live, applied, path, found);
  }
}
