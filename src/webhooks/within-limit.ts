/**
 * Limits the time of a hook run for a webhook request. The API server stops waiting at its own deadline and then applies
 * the failurePolicy without a reason, so we respond shortly before it, with a message that names the hook.
 */

import type { SteadyClock } from '@addon-operator/base/clock';

/** The result of a request with a time limit. */
export type InTime<T> = { readonly type: 'answered'; readonly value: T } | { readonly type: 'late' };

/** How much earlier than the API server we give up, so that our words arrive: at most half a second. */
const MARGIN_MS = 500;
const MARGIN_SHARE = 4;

/** How long a hook may take for a webhook whose caller waits for so many milliseconds. */
export function limitMsOf(timeoutMs: number): number {
  return timeoutMs - Math.min(MARGIN_MS, timeoutMs / MARGIN_SHARE);
}

/**
 * Waits for a response, for a limited time: then the signal given to `respond` aborts, and what it still does is not waited
 * for.
 *
 * @throws the error of `respond`, if in time; `signal.reason` when the caller goes away
 */
export async function withinLimit<T>(
  clock: SteadyClock,
  limitMs: number,
  signal: AbortSignal,
  respond: (signal: AbortSignal) => Promise<T>,
): Promise<InTime<T>> {
  const work = new AbortController();
  const timer = new AbortController();
  const late = clock
    .sleep(limitMs, AbortSignal.any([signal, timer.signal]))
    .then((): InTime<T> => ({ type: 'late' }));
  // A result ends the wait; its abort is no error then.
  late.catch(() => undefined);
  const responded = respond(AbortSignal.any([signal, work.signal])).then(
    (value): InTime<T> => ({ type: 'answered', value }),
  );
  responded.catch(() => undefined);
  try {
    return await Promise.race([responded, late]);
  } finally {
    timer.abort();
    work.abort();
  }
}
