import type { CronFields } from './cron-fields.ts';

const DAY_MS = 86_400_000;

/**
 * The first moment of a local calendar that the fields allow, not before `fromMs` and before `endMs`. Local times are
 * written as the epoch milliseconds they would be in UTC; `fromMs` is rounded up to a whole second.
 */
export function firstLocalMatch(fields: CronFields, fromMs: number, endMs: number): number | undefined {
  const startMs = Math.ceil(fromMs / 1_000) * 1_000;
  for (let dayMs = Math.floor(startMs / DAY_MS) * DAY_MS; dayMs < endMs; dayMs += DAY_MS) {
    if (!isDayAllowed(fields, new Date(dayMs))) continue;
    const time = firstTimeOfDay(fields, Math.max(0, startMs - dayMs) / 1_000);
    if (time === undefined) continue;
    const matchMs = dayMs + time * 1_000;
    return matchMs < endMs ? matchMs : undefined;
  }
  return undefined;
}

function isDayAllowed(fields: CronFields, day: Date): boolean {
  if (!fields.months.has(day.getUTCMonth() + 1)) return false;
  const isDayOfMonth = fields.daysOfMonth.has(day.getUTCDate());
  const isDayOfWeek = fields.daysOfWeek.has(day.getUTCDay());
  return fields.hasDayStar ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek;
}

/** The first allowed second of a day, not before `from` (in seconds since midnight). */
function firstTimeOfDay({ hours, minutes, seconds }: CronFields, from: number): number | undefined {
  const fromHour = Math.floor(from / 3_600);
  const fromMinute = Math.floor((from % 3_600) / 60);
  for (let hour = fromHour; hour < 24; hour += 1) {
    if (!hours.has(hour)) continue;
    for (let minute = hour === fromHour ? fromMinute : 0; minute < 60; minute += 1) {
      if (!minutes.has(minute)) continue;
      const isFirst = hour === fromHour && minute === fromMinute;
      for (let second = isFirst ? from % 60 : 0; second < 60; second += 1) {
        if (seconds.has(second)) return hour * 3_600 + minute * 60 + second;
      }
    }
  }
  return undefined;
}
