import type { DesiredObject } from '@addon-operator/helm/desired-objects';
import { HELM_MANAGER, writersOf } from '@addon-operator/helm/field-ownership';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import { collectionPath, type LookupOptions } from '@addon-operator/helm/object-lookup';
import { canonicalJson, fieldsOf, isObject } from '@addon-operator/json';
import { formatPointer } from '@addon-operator/json/pointer';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import type { IgnoreRule } from './drift-policy.ts';

type Fields = Readonly<Record<string, unknown>>;

export type ObjectComparison =
  /** Neither the object nor, perhaps, its kind exists. */
  | { readonly type: 'absent' }
  | { readonly type: 'same' }
  | {
      readonly type: 'drifted';
      /** JSON pointers into the live object, sorted. */
      readonly fields: readonly string[];
      /** Field managers that changed it, the last one first; may be empty. */
      readonly writers: readonly string[];
      /** What has to be applied to change it back, and nothing else. */
      readonly remedy: Remedy;
    };

interface Remedy {
  readonly path: string;
  readonly body: Fields;
}

/**
 * Compares an object with what helm applied. A dry run of applying it again shows what would change:
 * so other spellings of quantities, defaults and what webhooks do to each object are no differences.
 *
 * @throws errors of the client; KubeApiError also when the server refuses what helm applied
 */
export async function compareObject(
  desired: DesiredObject,
  ignore: readonly IgnoreRule[],
  options: LookupOptions,
  signal: AbortSignal,
): Promise<ObjectComparison> {
  const collection = await collectionPath(desired, options, signal);
  if (collection === undefined) return { type: 'absent' };
  const path = `${collection}/${encodeURIComponent(desired.name)}`;
  const live = await read(options.kube, path, signal);
  if (live === undefined) return { type: 'absent' };
  const { resourceVersion, deletionTimestamp } = fieldsOf(live['metadata']);
  // It waits for its finalizers, and is missing after them.
  if (deletionTimestamp !== undefined) return { type: 'same' };
  const body = withIgnoredFields(desired, live, ignore);
  const applied = await apply(options.kube, { path, body }, 'All', signal);
  const fields = driftedFields(body, live, applied);
  if (fields.length === 0) return { type: 'same' };
  const metadata = fieldsOf(body['metadata']);
  return {
    type: 'drifted',
    fields,
    writers: writersOf(live, fields),
    // A write of another client in between must not be overwritten unseen.
    remedy: { path, body: { ...body, metadata: { ...metadata, resourceVersion } } },
  };
}

/** Changes an object back. @throws KubeApiError 409 when it was changed since it was compared */
export async function healObject(kube: KubeClient, remedy: Remedy, signal: AbortSignal): Promise<void> {
  await apply(kube, remedy, undefined, signal);
}

async function read(kube: KubeClient, path: string, signal: AbortSignal): Promise<Fields | undefined> {
  const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
  return isObject(object) ? object : undefined;
}

function apply(
  kube: KubeClient,
  { path, body }: Remedy,
  dryRun: 'All' | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  return kube.request(
    {
      method: 'PATCH',
      path,
      query: { fieldManager: HELM_MANAGER, force: 'true', dryRun },
      contentType: 'application/apply-patch+yaml',
      body,
    },
    signal,
  );
}

/** Fields of `metadata` that the server keeps for itself. */
const BOOKKEEPING = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp']);

/**
 * JSON pointers into the live object, of all that would change if `desired` were applied, sorted. Only fields that
 * `desired` has count: whatever the server, or a webhook, does elsewhere on a write is not drift.
 *
 * @param applied the object after a dry run of applying it
 */
export function driftedFields(desired: unknown, live: unknown, applied: unknown): readonly string[] {
  const found: string[] = [];
  collect(desired, live, applied, [], found);
  return found.toSorted();
}

function collect(
  desired: unknown,
  live: unknown,
  applied: unknown,
  path: readonly string[],
  found: string[],
): void {
  if (isObject(desired) && isObject(applied) && isObject(live)) {
    for (const key of Object.keys(desired)) {
      if (path.length === 1 && path[0] === 'metadata' && BOOKKEEPING.has(key)) continue;
      if (path.length === 0 && key === 'status') continue;
      collect(desired[key], live[key], applied[key], [...path, key], found);
    }
  } else if (Array.isArray(applied) && Array.isArray(live) && applied.length === live.length) {
    applied.forEach((item: unknown, index) => {
      compare(live[index], item, [...path, String(index)], found);
    });
  } else if (canonicalJson(live) !== canonicalJson(applied)) {
    found.push(formatPointer(path));
  }
}

/** Inside lists every difference counts, because the owner of an item is not known there. */
function compare(live: unknown, applied: unknown, path: readonly string[], found: string[]): void {
  if (isObject(live) && isObject(applied)) {
    for (const key of new Set([...Object.keys(live), ...Object.keys(applied)]))
      compare(live[key], applied[key], [...path, key], found);
  } else {
    collect(undefined, live, applied, path, found);
  }
}

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
function counterpart(item: unknown, index: number, live: unknown): unknown {
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
