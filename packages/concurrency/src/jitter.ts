/** Share of a pause that is random: clients that failed at the same moment must not all come back at the same moment. */
const JITTER = 0.1;

/**
 * A pause of about `delayMs`, up to a tenth shorter or longer, in whole milliseconds.
 *
 * @param random a number in [0, 1)
 */
export function jittered(delayMs: number, random: () => number): number {
  return Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
}

/**
 * A pause of at most `delayMs`, up to a tenth shorter, in whole milliseconds: for pauses that a deadline is built on.
 *
 * @param random a number in [0, 1)
 */
export function shortened(delayMs: number, random: () => number): number {
  return Math.floor(delayMs * (1 - JITTER * random()));
}
