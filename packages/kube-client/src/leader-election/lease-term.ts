import type { LeaseTimes } from './lease-election.ts';

/** The moments that follow from one renewal, by the clock of the holder. */
export interface LeaseTerm {
  /** The holder starts nothing from then on, and ends what runs. */
  readonly stopAtMs: number;
  /** Terminates everything that still runs, unless the holder has already done so. */
  readonly termAtMs: number;
  /** Kills everything that still runs. */
  readonly killAtMs: number;
  /** Another replica may start. */
  readonly expiresAtMs: number;
}

/**
 * The term that a successful renewal gives, counted from before its request was sent: others count from when they saw
 * the result. The time between the renew deadline and the end is cut in five: one part for the holder to end by itself,
 * three for processes to end after TERM, one for the kill to take effect.
 */
export function leaseTerm(times: LeaseTimes, requestedAtMs: number): LeaseTerm {
  const stopAtMs = requestedAtMs + times.renewDeadlineMs;
  const expiresAtMs = requestedAtMs + times.durationMs;
  const partMs = (expiresAtMs - stopAtMs) / 5;
  return { stopAtMs, termAtMs: stopAtMs + partMs, killAtMs: expiresAtMs - partMs, expiresAtMs };
}
