import type { SteadyClock } from '@addon-operator/base/clock';
import type { ApiHealth } from './api-health.ts';
import type { RetryPause } from './retry.ts';

interface PauseDeps {
  readonly clock: SteadyClock;
  readonly health: Pick<ApiHealth, 'subscribe'>;
}

/**
 * Waits before a retry. The overload behind a long Retry-After is often over sooner: as soon as any other request
 * succeeds, only the minimum is waited for.
 *
 * @throws `signal.reason` when the signal aborts
 */
export async function pauseBeforeRetry(
  { clock, health }: PauseDeps,
  { delayMs, minimumMs }: RetryPause,
  signal: AbortSignal,
): Promise<void> {
  const endMs = clock.steadyMs() + minimumMs;
  const succeeded = new AbortController();
  const unsubscribe = health.subscribe({ succeeded: () => succeeded.abort() });
  try {
    await clock.sleep(delayMs, AbortSignal.any([signal, succeeded.signal]));
  } catch (error) {
    if (signal.aborted || !succeeded.signal.aborted) throw error;
    const leftMs = endMs - clock.steadyMs();
    if (leftMs > 0) await clock.sleep(leftMs, signal);
  } finally {
    unsubscribe();
  }
}
