const DURATION =
  /^P(?:(?<weeks>\d+)W)?(?:(?<days>\d+)D)?(?:T(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+(?:[.,]\d+)?)S)?)?$/u;

const UNITS_MS = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1_000 };

/**
 * Parses an ISO 8601 duration such as `PT5S`, `PT1M30S` or `PT0.5S`.
 *
 * @returns milliseconds; `undefined` for any other string, also for years and months, which have no
 *   fixed length
 */
export function parseIsoDuration(value: string): number | undefined {
  const groups = DURATION.exec(value)?.groups;
  if (groups === undefined || value.endsWith('T')) return undefined;
  const parts = Object.entries(UNITS_MS).flatMap(([unit, unitMs]) => {
    const amount = groups[unit];
    return amount === undefined ? [] : [Number(amount.replace(',', '.')) * unitMs];
  });
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}
