/** Steps from a JSON value to one inside it: object keys and array indexes (negative ones count from the end). */
export type JsonPath = readonly (string | number)[];

/** The value at a path, null where there is none; throws a string, as jq words it, where a step does not fit. */
export function valueAt(value: unknown, key: unknown): unknown {
  if (value === null && (key === null || typeof key === 'string' || typeof key === 'number')) return null;
  if (Array.isArray(value) && typeof key === 'number') return value.at(Math.floor(key)) ?? null;
  if (isRecord(value) && typeof key === 'string')
    return Object.hasOwn(value, key) ? (value[key] ?? null) : null;
  throw `Cannot index ${typeName(value)} with ${typeof key === 'string' ? `"${key}"` : typeName(key)}`;
}

/** A copy of `value` with another value at `path`; missing objects and arrays on the way are made. */
export function withValueAt(value: unknown, path: JsonPath, replacement: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement(value);
  const child = withValueAt(valueAt(value, key), rest, replacement);
  if (typeof key === 'string') return { ...(isRecord(value) ? value : {}), [key]: child };
  const copy: unknown[] = Array.isArray(value) ? [...value] : [];
  const index = key < 0 ? copy.length + key : key;
  if (index < 0) throw 'Out of bounds negative array index';
  while (copy.length < index) copy.push(null);
  copy[index] = child;
  return copy;
}

/** A copy of `value` without what stands at the paths; paths that lead nowhere are fine. */
export function withoutPaths(value: unknown, paths: readonly JsonPath[]): unknown {
  if (paths.some((path) => path.length === 0)) return null;
  const deeper = Map.groupBy(paths, ([key]) => key);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => keep(item, [index, index - value.length], deeper));
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.flatMap(([key, item]) => keep(item, [key], deeper).map((kept) => [key, kept])),
  );
}

/** The item as it is left over: none when a path ends at it. */
function keep(
  item: unknown,
  keys: readonly unknown[],
  pathsByKey: ReadonlyMap<unknown, readonly JsonPath[]>,
): unknown[] {
  const rests = keys.flatMap((key) => pathsByKey.get(key) ?? []).map((path) => path.slice(1));
  if (rests.some((rest) => rest.length === 0)) return [];
  return [rests.length === 0 ? item : withoutPaths(item, rests)];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
