/**
 * Adds a problem for each unknown key of a map.
 *
 * @param at path of the map, such as `hook.address`; empty for the document itself
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
