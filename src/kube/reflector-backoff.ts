const INITIAL_DELAY_MS = 800;
const MAX_DELAY_MS = 30_000;
/** Delays are shortened by up to this share, never lengthened: the maximum is a promise. */
const JITTER = 0.2;

/**
 * Pause before a reflector asks the API server again, in whole milliseconds: 0.8 s after the first failure, doubled by each
 * further one up to 30 s, less up to a fifth of jitter; never shorter than the server asked for.
 *
 * @param failures failures in a row, the one being handled included; at least 1
 * @param retryAfterSeconds what the server asked for, if it did
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
