import { reconnectDelayMs } from '../kube/reflector-backoff.ts';
import { hasCode } from '../lib/errors.ts';
import type { DaemonHost } from './host.ts';

/**
 * Asks the API server until it answers: while it is away or refuses it is asked again, after 0.8 s growing to 30 s. The
 * daemon stays up and not ready.
 *
 * @param what is asked for, for the log
 * @throws what `ask` throws and is not about the API server; `signal.reason` when the signal aborts
 */
export async function untilAnswered<T>(
  what: string,
  ask: () => Promise<T>,
  { clock, log, random }: Pick<DaemonHost, 'clock' | 'log' | 'random'>,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (!hasCode(error, 'KUBE_UNREACHABLE') && !hasCode(error, 'KUBE_API')) throw error;
      const delayMs = reconnectDelayMs(failures, undefined, random);
      log.warn({ error, delayMs, wanted: what }, 'the API server cannot be asked yet, waiting for it');
      await clock.sleep(delayMs, signal);
    }
  }
}
