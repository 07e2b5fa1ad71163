import type { SteadyClock } from '../lib/clock.ts';
import { reconnectDelayMs } from './reflector-backoff.ts';

export interface UntilDoneDeps {
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * Tries until it succeeds, with the pauses of {@link reconnectDelayMs} after each failure: 0.8 s growing to 30 s.
 *
 * @param onFailure told of each failure and of the pause that follows, in milliseconds; what it throws ends the tries
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
