const INITIAL_DELAY_MS = 5_000;
const MAX_DELAY_MS = 30_000;
const GROWING_FAILURES = 5;

/**
 * Delay before the next attempt of a failed task, in milliseconds: 5 s after the first failure, then
 * 5 s + 2^(n-1) s plus up to one second of jitter (cut to 0.1 s), never more than 30 s.
 *
 * @param previousFailures how often this task failed before the failure that is being handled
 * @param random a number in [0, 1)
 */
export function retryDelayMs(previousFailures: number, random: () => number): number {
  if (previousFailures <= 0) return INITIAL_DELAY_MS;
  if (previousFailures > GROWING_FAILURES) return MAX_DELAY_MS;
  const jitterMs = Math.floor(random() * 10) * 100;
  return Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS + 2 ** (previousFailures - 1) * 1_000 + jitterMs);
}
