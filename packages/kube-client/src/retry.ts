import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';

const INITIAL_DELAY_MS = 800;
const MAX_DELAY_MS = 30_000;
/** Delays are shortened by up to this share, never lengthened: the maximum is a promise. */
const JITTER = 0.2;

/**
 * Pause before a reflector retries a request, in whole milliseconds: 0.8 s after the first failure, doubled by each
 * further one up to 30 s, less up to a fifth of jitter; never shorter than the server requested.
 *
 * @param failures failures in a row, the one being handled included; at least 1
 * @param retryAfterSeconds the Retry-After header, if there is one
 * @param random a number in [0, 1)
 */
export function reconnectDelayMs(
  failures: number,
  retryAfterSeconds: number | undefined,
  random: () => number,
): number {
  const fullMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (failures - 1));
  const delayMs = Math.round(fullMs * (1 - JITTER * random()));
  if (retryAfterSeconds === undefined) return delayMs;
  return Math.max(delayMs, Math.round(retryAfterSeconds * 1_000 * (1 + JITTER * random())));
}

interface UntilDoneDeps {
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * Retries until it succeeds, with the pauses of {@link reconnectDelayMs} after each failure: 0.8 s growing to 30 s.
 *
 * @param onFailure called with each failure and the following pause in milliseconds; what it throws ends the attempts
 * @throws what `onFailure` throws; `signal.reason` when the signal aborts
 */
export async function untilDone<T>(
  attempt: () => Promise<T>,
  onFailure: (error: unknown, delayMs: number) => void,
  { clock, random }: UntilDoneDeps,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = reconnectDelayMs(failures, undefined, random);
      onFailure(error, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}

/** What waiting for the API server needs of the process. */
export interface RetryHost extends UntilDoneDeps {
  readonly log: Logger;
}

/**
 * Repeats a request until the API server responds: while it is unreachable or refuses, with pauses of 0.8 s growing to 30 s. The
 * daemon stays up and not ready.
 *
 * @param what is requested, for the log
 * @throws any error of `attempt` that is not about the API server; `signal.reason` when the signal aborts
 */
export function untilAvailable<T>(
  what: string,
  attempt: () => Promise<T>,
  { clock, log, random }: RetryHost,
  signal: AbortSignal,
): Promise<T> {
  const onFailure = (error: unknown, delayMs: number): void => {
    if (!hasCode(error, 'KUBE_UNREACHABLE') && !hasCode(error, 'KUBE_API')) throw error;
    log.warn({ error, delayMs, wanted: what }, 'waiting for the API server: it does not respond yet');
  };
  return untilDone(attempt, onFailure, { clock, random }, signal);
}
