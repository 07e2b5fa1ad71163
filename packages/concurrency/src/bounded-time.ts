/** The longest time that hooks, extensions and objects of the cluster can have something put off: a year. */
export const LONGEST_DELAY_MS = 365 * 24 * 60 * 60_000;

/** The range of a Date; beyond it its methods throw. */
const LAST_MS = 8.64e15;

/** Limits a delay that came from outside to a value that timers and dates accept. NaN becomes 0. */
export function boundedDelay(delayMs: number): number {
  return Number.isNaN(delayMs) ? 0 : Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS);
}

/** RFC 3339 in UTC with milliseconds. A time that no date can hold becomes the nearest one that can: it never throws. */
export function isoTime(epochMs: number): string {
  const ms = Number.isNaN(epochMs) ? 0 : Math.min(Math.max(-LAST_MS, epochMs), LAST_MS);
  return new Date(ms).toISOString();
}
