import { fieldsOf, isObject } from '../lib/json.ts';
import type { Redactor } from '../lib/redactor.ts';

const MASK = '*** (before)';

export interface MaskOptions {
  /** Knows the secrets of today. */
  readonly redactor: Pick<Redactor, 'text'>;
  /** Whether texts that are gone are masked too: they may be a secret of yesterday that stands elsewhere now. */
  readonly masksGone: boolean;
  /** Whether texts that others replaced are masked too: values that are no secret today may have been one. Default false. */
  readonly masksChanged?: boolean;
}

/**
 * Plain data as it was before a change, with each value masked that differs from one with a secret in the same place:
 * a secret that was replaced is not known any more, and would be shown.
 */
export function maskReplaced(before: unknown, after: unknown, options: MaskOptions): unknown {
  const { redactor, masksChanged = false, masksGone } = options;
  if (typeof after === 'string') {
    if (before === undefined || before === after) return before;
    return masksChanged || redactor.text(after) !== after ? MASK : before;
  }
  if (typeof before === 'string') return masksGone ? MASK : before;
  if (Array.isArray(before)) {
    const items: readonly unknown[] = Array.isArray(after) ? after : [];
    return before.map((item: unknown, index) => {
      // Items move when one is put in before them.
      if (typeof item !== 'string' || !masksGone) return maskReplaced(item, items[index], options);
      return items.includes(item) ? item : MASK;
    });
  }
  if (!isObject(before)) return before;
  const fields = fieldsOf(after);
  return Object.fromEntries(
    Object.entries(before).map(([key, item]) => [key, maskReplaced(item, fields[key], options)]),
  );
}
