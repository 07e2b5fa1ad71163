import type { SteadyClock } from '../../lib/clock.ts';

/** `lost`: somebody else was faster, or nobody knows; a new attempt must start from a fresh read. */
export type Attempt<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'lost'; readonly error: unknown };

interface RetryDeps {
  readonly clock: SteadyClock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
}

const DELAYS_MS = [10, 50, 250, 1_000, 1_000];
const JITTER = 0.1;

/**
 * Repeats an attempt that lost a race, up to five times after 10 ms to 1 s with jitter; then throws the error of the
 * last one. What an attempt throws ends it at once.
 */
export async function retryLost<T>(
  { clock, random }: RetryDeps,
  signal: AbortSignal,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const outcome = await attempt();
    if (outcome.type === 'done') return outcome.value;
    const delayMs = DELAYS_MS[tries];
    if (delayMs === undefined) throw outcome.error;
    await clock.sleep(delayMs * (1 + JITTER * random()), signal);
  }
}
