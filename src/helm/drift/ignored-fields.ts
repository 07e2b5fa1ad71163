import { isObject } from '../../lib/json.ts';
import type { ManifestObject } from '../manifest-object.ts';
import type { IgnoreRule } from './drift-policy.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Marks a place where the live object has nothing. */
const ABSENT = Symbol('absent');

/**
 * What helm applied, with the live values in place of everything that may differ. So the server neither sees a
 * difference there, nor takes the fields away from helm.
 */
export function withIgnoredFields(
  object: ManifestObject & { readonly fields: Fields },
  live: Fields,
  rules: readonly IgnoreRule[],
): Fields {
  const concerns = ({ kind, name }: IgnoreRule): boolean =>
    (kind === undefined || kind === object.kind) && (name === undefined || name === object.name);
  const body = rules
    .filter(concerns)
    .reduce<unknown>((fields, rule) => replaced(fields, live, pathIn(object, rule)), object.fields);
  return isObject(body) ? body : object.fields;
}

/** A rule may name a field of a Secret as the chart does: the server turns `stringData` into `data`. */
function pathIn({ kind }: ManifestObject, { path }: IgnoreRule): readonly string[] {
  return kind === 'Secret' && path[0] === 'stringData' ? ['data', ...path.slice(1)] : path;
}

/** `desired` with the value that `live` has at `path`; places that `desired` does not have stay away. */
function replaced(desired: unknown, live: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return live;
  if (Array.isArray(desired)) {
    return desired.flatMap((item: unknown, index) => {
      if (head !== '*' && head !== String(index)) return [item];
      const there = counterpart(item, index, live);
      // The item itself may not be missing, and comes back as helm applied it.
      if (there === ABSENT && rest.length > 0) return [item];
      const value = replaced(item, there, rest);
      return value === ABSENT ? [] : [value];
    });
  }
  if (!isObject(desired)) return desired;
  const entries = Object.entries(desired).flatMap(([key, item]): [string, unknown][] => {
    if (head !== '*' && head !== key) return [[key, item]];
    const there = isObject(live) && Object.hasOwn(live, key) ? live[key] : ABSENT;
    const value = replaced(item, there, rest);
    return value === ABSENT ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

/** The item of a live list that belongs to one of the desired list: of the same name, else at the same place. */
export function counterpart(item: unknown, index: number, live: unknown): unknown {
  if (!Array.isArray(live)) return ABSENT;
  const name = nameOf(item);
  const hasName = (other: unknown): boolean => nameOf(other) === name;
  const atPlace: unknown = live[index];
  // Names need not be unique: of two mounts of a volume the one at the same place is meant.
  const found: unknown = name === undefined || hasName(atPlace) ? atPlace : live.find(hasName);
  return found === undefined ? ABSENT : found;
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? item['name'] : undefined;
}
