import { isObject } from '../../lib/json.ts';
import type { Redactor } from '../../lib/redactor.ts';

const MASK = '*** (before)';

/**
 * Plain data as it was before a change, with each value masked that differs from one with a secret in the same place:
 * a secret that was replaced is not known any more, and would be shown.
 */
export function maskReplaced(before: unknown, after: unknown, redactor: Pick<Redactor, 'text'>): unknown {
  if (typeof after === 'string')
    return before === undefined || before === after || redactor.text(after) === after ? before : MASK;
  if (Array.isArray(before) && Array.isArray(after)) {
    const items: readonly unknown[] = after;
    return before.map((item: unknown, index) => maskReplaced(item, items[index], redactor));
  }
  if (!isObject(before) || !isObject(after)) return before;
  return Object.fromEntries(
    Object.entries(before).map(([key, item]) => [key, maskReplaced(item, after[key], redactor)]),
  );
}
