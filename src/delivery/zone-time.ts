// The wall clock of a time zone. Pure: the rules of zones are those of ICU in Node.

/** A day and a time of day, without a zone. */
export interface LocalTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly minutes: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether it is the name of a time zone. */
export function isTimeZone(zone: string): boolean {
  try {
    // Offsets such as +01:00 are accepted by Intl, and by nothing else here.
    return /^[A-Za-z]/u.test(zone) && formatOf(zone) !== undefined;
  } catch {
    return false;
  }
}

/** The time that a clock on the wall shows at a moment. */
export function localTime(epochMs: number, zone: string): LocalTime {
  const shown = new Date(epochMs + offsetMs(epochMs, zone));
  const minutes = shown.getUTCHours() * 60 + shown.getUTCMinutes();
  return { year: shown.getUTCFullYear(), month: shown.getUTCMonth() + 1, day: shown.getUTCDate(), minutes };
}

/**
 * The moments at which a clock shows a time: one, or two where it is turned back over it. A time that the clock skips
 * is the moment of the change.
 */
export function momentsOf(
  { year, month, day, minutes }: LocalTime,
  zone: string,
): readonly [number, ...number[]] {
  const asUtcMs = Date.UTC(year, month - 1, day, 0, minutes);
  const [before, after] = [offsetMs(asUtcMs - DAY_MS, zone), offsetMs(asUtcMs + DAY_MS, zone)];
  const found = [...new Set([before, after])]
    .map((offset) => asUtcMs - offset)
    .filter((ms) => ms + offsetMs(ms, zone) === asUtcMs)
    .toSorted((a, b) => a - b);
  const [first, ...rest] = found;
  if (first !== undefined) return [first, ...rest];
  return [changeBetween(asUtcMs - DAY_MS, asUtcMs + DAY_MS, zone)];
}

/** The first minute with another offset; there is one change between the two moments. */
function changeBetween(fromMs: number, toMs: number, zone: string): number {
  const before = offsetMs(fromMs, zone);
  let [low, high] = [Math.floor(fromMs / MINUTE_MS), Math.ceil(toMs / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle * MINUTE_MS, zone) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

function offsetMs(epochMs: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(epochMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const shownMs = Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'));
  return shownMs - Math.floor(epochMs / 1_000) * 1_000;
}

/** @throws RangeError for an unknown zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const digits = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    } as const;
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      calendar: 'gregory',
      numberingSystem: 'latn',
      second: 'numeric',
      ...digits,
    });
    formats.set(timeZone, format);
  }
  return format;
}
