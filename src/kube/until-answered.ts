import { hasCode } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type UntilDoneDeps, untilDone } from './until-done.ts';

/** What waiting for the API server needs of the process. */
export interface RetryHost extends UntilDoneDeps {
  readonly log: Logger;
}

/**
 * Asks the API server until it answers: while it is away or refuses it is asked again, after 0.8 s growing to 30 s. The
 * daemon stays up and not ready.
 *
 * @param what is asked for, for the log
 * @throws what `ask` throws and is not about the API server; `signal.reason` when the signal aborts
 */
export function untilAnswered<T>(
  what: string,
  ask: () => Promise<T>,
  { clock, log, random }: RetryHost,
  signal: AbortSignal,
): Promise<T> {
  const onFailure = (error: unknown, delayMs: number): void => {
    if (!hasCode(error, 'KUBE_UNREACHABLE') && !hasCode(error, 'KUBE_API')) throw error;
    log.warn({ error, delayMs, wanted: what }, 'waiting for the API server: it does not respond yet');
  };
  return untilDone(ask, onFailure, { clock, random }, signal);
}
