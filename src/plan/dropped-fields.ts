import { isObject } from '../lib/json.ts';

/**
 * An object as it would be after an upgrade that drops fields. A server-side apply under another name than helm's takes
 * no field away, helm does: those that the deployed manifest sets and the new one does not.
 *
 * @param after the object with everything that the new manifest sets
 */
export function withoutDropped(after: unknown, deployed: unknown, wanted: unknown): unknown {
  if (isObject(after) && isObject(deployed) && isObject(wanted)) {
    const entries = Object.entries(after).flatMap(([key, value]): [string, unknown][] => {
      if (!Object.hasOwn(deployed, key)) return [[key, value]];
      if (Object.hasOwn(wanted, key)) return [[key, withoutDropped(value, deployed[key], wanted[key])]];
      const rest = leftOf(value, deployed[key]);
      return rest === undefined ? [] : [[key, rest]];
    });
    return Object.fromEntries(entries);
  }
  if (!Array.isArray(after) || !Array.isArray(deployed) || !Array.isArray(wanted)) return after;
  const [before, desired]: readonly (readonly unknown[])[] = [deployed, wanted];
  return after.flatMap((item: unknown) => {
    const was = named(before, item);
    if (was === undefined) return [item];
    const is = named(desired, item);
    return is === undefined ? [] : [withoutDropped(item, was, is)];
  });
}

/** What others have put into something that helm removes; undefined when that is nothing. */
function leftOf(value: unknown, deployed: unknown): unknown {
  if (!isObject(value) || !isObject(deployed)) return undefined;
  const rest = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const left = Object.hasOwn(deployed, key) ? leftOf(item, deployed[key]) : item;
    return left === undefined ? [] : [[key, left]];
  });
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The item of a list that has the name of another one; items without a name cannot be told apart. */
function named(list: readonly unknown[] | undefined, item: unknown): unknown {
  const name = isObject(item) ? item['name'] : undefined;
  if (typeof name !== 'string') return undefined;
  return list?.find((other) => isObject(other) && other['name'] === name);
}
