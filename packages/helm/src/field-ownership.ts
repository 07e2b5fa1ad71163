import { canonicalJson, fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { parsePointer } from '@addon-operator/json/pointer';

type Fields = Readonly<Record<string, unknown>>;

/** The field manager of helm 3 and 4. */
export const HELM_MANAGER = 'helm';

interface ManagedEntry {
  readonly manager: string;
  /** As the server writes it; empty when unknown. */
  readonly time: string;
  readonly fields: Fields;
}

/**
 * The ownership of the fields that helm applied. `all`: helm owns each of them, so no client has changed one
 * since. `unclear`: the same, but all items of some map or list may have been removed, which the list of owners does not
 * show; also where a map counts as one field. `some`: of one at least it is not the owner.
 */
type HelmsShare = 'all' | 'unclear' | 'some';

/** How much of `desired` helm owns. */
export function helmsShare(desired: Fields, metadata: Fields): HelmsShare {
  const sets = helmsSets(metadata);
  const { apiVersion: _version, kind: _kind, metadata: ownMetadata, status: _status, ...rest } = desired;
  const { labels = {}, annotations = {}, ...others } = fieldsOf(ownMetadata);
  const { finalizers = [], ownerReferences = [] } = others;
  const content = { ...rest, metadata: { labels, annotations, finalizers, ownerReferences } };
  if (covers(sets, content, 'strict')) return 'all';
  return covers(sets, content, 'loose') ? 'unclear' : 'some';
}

/** Equal texts for the same fields owned by helm. */
export function helmsFields(metadata: Fields): string {
  return canonicalJson(helmsSets(metadata));
}

/** Changes with every write that reaches fields outside of the status; equal texts mean that no client has written. */
export function writesText(metadata: Fields): string {
  return canonicalJson(managedEntries(metadata));
}

function helmsSets(metadata: Fields): readonly Fields[] {
  return managedEntries(metadata)
    .filter(({ manager }) => manager === HELM_MANAGER)
    .map(({ fields }) => fields);
}

/**
 * Who changed fields, the last one first: managers other than helm that own one of them, else those that wrote to the
 * object last, because no manager owns a field that was removed.
 */
export function writersOf(live: Fields, pointers: readonly string[]): readonly string[] {
  const metadata = fieldsOf(live['metadata']);
  const others = managedEntries(metadata)
    .filter(({ manager }) => manager !== HELM_MANAGER)
    .toSorted((a, b) => (a.time < b.time ? 1 : -1));
  const paths = pointers.flatMap((pointer) => [parsePointer(pointer) ?? []]);
  const owners = others.filter(({ fields }) => paths.some((path) => isWithin(fields, live, path)));
  const names = (owners.length > 0 ? owners : others.slice(0, 1)).map(({ manager }) => manager);
  return [...new Set(names)];
}

function managedEntries(metadata: Fields): readonly ManagedEntry[] {
  const entries = Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : [];
  return entries.filter(isObject).flatMap((entry) => {
    const { manager, time, subresource, fieldsV1 } = entry;
    if (subresource === 'status' || typeof manager !== 'string' || !isObject(fieldsV1)) return [];
    return [{ manager, time: stringOf(time), fields: fieldsV1 }];
  });
}

/** Whether the sets together hold every leaf of a value. */
function covers(sets: readonly Fields[], value: unknown, how: 'strict' | 'loose'): boolean {
  if (sets.some(isWhole) && (how === 'loose' || typeof value !== 'object')) return true;
  if (isObject(value))
    return Object.entries(value).every(([key, item]) => covers(childSets(sets, `f:${key}`), item, how));
  if (Array.isArray(value)) return value.every((item: unknown) => covers(itemSets(sets, item), item, how));
  return false;
}

/** Nothing below is listed: a scalar, a map or list that counts as one field, or one that has lost all it had. */
function isWhole(set: Fields): boolean {
  return Object.keys(set).length === 0;
}

function childSets(sets: readonly Fields[], key: string): readonly Fields[] {
  return sets.flatMap((set) => (isObject(set[key]) ? [set[key]] : []));
}

/** The parts of sets that speak of one item of a list. */
function itemSets(sets: readonly Fields[], item: unknown): readonly Fields[] {
  return sets.flatMap((set) =>
    Object.entries(set).flatMap(([key, below]) => (isItem(key, item) && isObject(below) ? [below] : [])),
  );
}

function isItem(key: string, item: unknown): boolean {
  if (key.startsWith('v:')) return parseKey(key) === item;
  if (!key.startsWith('k:')) return false;
  const fields = parseKey(key);
  if (!isObject(fields) || !isObject(item)) return false;
  // A field of the key that the manifest leaves out got a default.
  return Object.entries(fields).every(([name, value]) => item[name] === undefined || item[name] === value);
}

function parseKey(key: string): unknown {
  try {
    return JSON.parse(key.slice(2));
  } catch {
    return undefined;
  }
}

/** Whether a set holds the field at `path` of `value`, something above or something below it. */
function isWithin(set: Fields, value: unknown, path: readonly string[]): boolean {
  const [head, ...rest] = path;
  if (head === undefined || isWhole(set)) return true;
  if (Array.isArray(value)) {
    const item: unknown = value[Number(head)];
    return itemSets([set], item).some((below) => isWithin(below, item, rest));
  }
  const below = set[`f:${head}`];
  return isObject(below) && isWithin(below, isObject(value) ? value[head] : undefined, rest);
}
