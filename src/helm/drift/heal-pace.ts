/** What is remembered of an object that was healed. */
export interface HealStreak {
  /** How often it was healed without a long pause between. */
  readonly heals: number;
  readonly lastAtMs: number;
}

/** As many times a change is undone at once. */
export const HEALS_AT_ONCE = 3;
const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 3_600_000;
/** An object that stays as it is for this long after it could have been healed again is at peace. */
const PEACE_MS = 600_000;

/** When an object may be healed, on the steady clock: at once, with growing delays if another client keeps changing it. */
export function nextHealAtMs(streak: HealStreak | undefined): number {
  return streak === undefined ? Number.NEGATIVE_INFINITY : streak.lastAtMs + delayMs(streak.heals);
}

/** The streak after a heal. */
export function withHeal(streak: HealStreak | undefined, nowMs: number): HealStreak {
  const isOver = streak === undefined || nowMs - nextHealAtMs(streak) >= PEACE_MS;
  return { heals: isOver ? 1 : streak.heals + 1, lastAtMs: nowMs };
}

function delayMs(heals: number): number {
  if (heals < HEALS_AT_ONCE) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (heals - HEALS_AT_ONCE));
}
