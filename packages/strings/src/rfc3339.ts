const MS_PER_MINUTE = 60_000;

/** A moment as RFC 3339 with seconds, in the time zone of the process: `2026-01-02T03:04:05+01:00`, `Z` for UTC. */
export function rfc3339(epochMs: number): string {
  const offsetMinutes = -new Date(epochMs).getTimezoneOffset();
  const local = new Date(epochMs + offsetMinutes * MS_PER_MINUTE).toISOString().slice(0, 19);
  if (offsetMinutes === 0) return `${local}Z`;
  const sign = offsetMinutes < 0 ? '-' : '+';
  const absolute = Math.abs(offsetMinutes);
  return `${local}${sign}${twoDigits(Math.floor(absolute / 60))}:${twoDigits(absolute % 60)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
