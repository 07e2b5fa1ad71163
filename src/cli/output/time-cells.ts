const SECOND_MS = 1_000;
/** The units of kubectl, and up to how many of each are shown. */
const UNITS = [
  { name: 's', ms: SECOND_MS, below: 120 },
  { name: 'm', ms: 60 * SECOND_MS, below: 120 },
  { name: 'h', ms: 3_600 * SECOND_MS, below: 48 },
  { name: 'd', ms: 86_400 * SECOND_MS, below: Infinity },
] as const;

/** The wall clock in milliseconds; undefined: times are shown as they are, for output that is compared. */
export type Now = number | undefined;

/** How long ago a time is, such as `95s`, `4m` or `3d`; empty for no time. */
export function ageCell(time: string, now: Now): string {
  return spanCell(time, now, (ms) => (now ?? 0) - ms);
}

/** How long until a time, such as `12s`; `0s` after it. */
export function untilCell(time: string, now: Now): string {
  return spanCell(time, now, (ms) => ms - (now ?? 0));
}

function spanCell(time: string, now: Now, spanOf: (ms: number) => number): string {
  const ms = Date.parse(time);
  if (now === undefined || Number.isNaN(ms)) return time;
  const span = Math.max(0, spanOf(ms));
  const [unit = UNITS[0]] = UNITS.filter(({ ms: size, below }) => span < size * below);
  return `${Math.floor(span / unit.ms)}${unit.name}`;
}
