/** When updates may begin. Pure. */

import type { UpdateWindow } from './spec-shapes.ts';
import { localTime, momentsOf } from './zone-time.ts';

/** `opensAtMs` is undefined where no window opens within two weeks. */
export type WindowState =
  | { readonly isOpen: true }
  | { readonly isOpen: false; readonly opensAtMs: number | undefined };

const DAY_MS = 24 * 3_600_000;
/** A weekly window that falls into the hour that one week lacks opens a week later. */
const DAYS_AHEAD = 15;
const NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/**
 * Whether one of the windows is open; without windows always. `from` and `to` are times on the wall clock of the zone. Where
 * the clock skips `from`, the window begins at the change; where it shows a time twice, it begins with the first and ends with the
 * last. A window of which the clock skips everything does not open that day.
 */
export function windowState(windows: readonly UpdateWindow[], nowMs: number): WindowState {
  if (windows.length === 0) return { isOpen: true };
  let opensAtMs: number | undefined;
  for (const window of windows) {
    for (const [startMs, endMs] of openings(window, nowMs)) {
      if (startMs <= nowMs && nowMs < endMs) return { isOpen: true };
      if (startMs > nowMs && startMs < (opensAtMs ?? Number.POSITIVE_INFINITY)) opensAtMs = startMs;
    }
  }
  return { isOpen: false, opensAtMs };
}

/** From yesterday on, since a window may pass midnight. */
function* openings(window: UpdateWindow, nowMs: number): Generator<readonly [number, number]> {
  const { days = NAMES, from, to, timeZone = 'UTC' } = window;
  const [fromMinutes, toMinutes] = [minutesOf(from), minutesOf(to)];
  const endMinutes = toMinutes > fromMinutes ? toMinutes : toMinutes + 24 * 60;
  const today = localTime(nowMs, timeZone);
  const noonMs = Date.UTC(today.year, today.month - 1, today.day, 12);
  for (let ahead = -1; ahead <= DAYS_AHEAD; ahead += 1) {
    const date = new Date(noonMs + ahead * DAY_MS);
    const dayName = NAMES[date.getUTCDay()];
    if (dayName === undefined || !days.includes(dayName)) continue;
    const on = (minutes: number) =>
      momentsOf(
        { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), minutes },
        timeZone,
      );
    const startMs = on(fromMinutes)[0];
    const endMs = on(endMinutes).at(-1) ?? startMs;
    if (endMs > startMs) yield [startMs, endMs];
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
