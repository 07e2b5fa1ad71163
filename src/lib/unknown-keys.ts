/**
 * Adds a problem for each key of a map that nobody knows.
 *
 * @param at where the map stands, as `hook.address`; empty for the document itself
 */
export function refuseUnknown(
  map: Readonly<Record<string, unknown>>,
  known: readonly string[],
  at: string,
  problems: string[],
): void {
  const prefix = at === '' ? '' : `${at}.`;
  for (const key of Object.keys(map))
    if (!known.includes(key))
      problems.push(`${prefix}${key}: unknown key, expected one of ${known.join(', ')}`);
}
