const MIN_DELAY_MS = 270_000;
const STEP_MS = 30_000;
const CYCLE_MS = 300_000;

/**
 * How long a monitor waits that starts now or has just looked, in milliseconds: 270 s to less than 330 s. It ends at a
 * full half minute, so that monitors started together look together, and rather at a full five minutes: there all
 * monitors meet within an hour, whenever they were started, and stay together from then on.
 *
 * @param shiftMs by how much the full minutes of this daemon lie before those of the clock
 */
export function monitorDelayMs(nowMs: number, shiftMs: number): number {
  const shiftedMs = nowMs + shiftMs;
  const early = Math.ceil((shiftedMs + MIN_DELAY_MS) / STEP_MS) * STEP_MS;
  const late = early + STEP_MS;
  return (late % CYCLE_MS === 0 ? late : early) - shiftedMs;
}

/** Spreads the looks of many daemons. @param random a number in [0, 1) */
export function randomShiftMs(random: () => number): number {
  return Math.floor((random() * CYCLE_MS) / 1_000) * 1_000;
}
