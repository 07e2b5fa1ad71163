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
  /** The object, or even its kind, does not exist. */
  | { readonly type: 'absent' }
  | { readonly type: 'same' }
  | {
      readonly type: 'drifted';
      /** JSON pointers into the live object, sorted. */
      readonly fields: readonly string[];
      /** Field managers that changed it, the last one first; may be empty. */
      readonly writers: readonly string[];
      /** The minimal apply that corrects it. */
      readonly remedy: Remedy;
    };

interface Remedy {
  readonly path: string;
  readonly body: Fields;
}

/**
 * Compares an object with what helm applied, by a dry run of applying it again. The server itself
 * computes the difference, so other notations of quantities, defaults and changes by webhooks are
 * none.
 *
 * @throws errors of the client; KubeApiError also when the server refuses the object
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
  // It is being deleted: when its finalizers are done it is missing, which is another finding.
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
    // With this resource version, a write of another client in between makes the correction fail.
    remedy: { path, body: { ...body, metadata: { ...metadata, resourceVersion } } },
  };
}

/** Corrects an object. @throws KubeApiError 409 when it was changed after the comparison */
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

/** Fields of `metadata` that the server maintains. */
const BOOKKEEPING = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp']);

/**
 * JSON pointers, sorted, to everything that would change in the live object if `desired` were
 * applied. Only fields in `desired` count: other effects of a write, by the server or a webhook,
 * are no drift.
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
      // The status belongs to controllers.
      if (path.length === 0 && key === 'status') continue;
      collect(desired[key], live[key], applied[key], [...path, key], found);
    }
  } else if (Array.isArray(applied) && Array.isArray(live) && applied.length === live.length) {
    // Lists of equal length are compared item by item, to report the precise field.
    applied.forEach((item: unknown, index) => {
      compare(live[index], item, [...path, String(index)], found);
    });
  } else if (canonicalJson(live) !== canonicalJson(applied)) {
    found.push(formatPointer(path));
  }
}

/** Inside lists every difference counts, since the owner of an item is unknown there. */
function compare(live: unknown, applied: unknown, path: readonly string[], found: string[]): void {
  if (isObject(live) && isObject(applied)) {
    for (const key of new Set([...Object.keys(live), ...Object.keys(applied)]))
      compare(live[key], applied[key], [...path, key], found);
  } else {
    collect(undefined, live, applied, path, found);
  }
}

/** The live object has no value here. */
const ABSENT = Symbol('absent');

/**
 * The applied object, with the live values of all fields that may differ. The server then neither
 * sees a difference there, nor takes the fields away from helm.
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

/**
 * A rule may name a Secret's field as the chart does: the server turns `stringData` into `data`.
 */
function pathIn({ kind }: ManifestObject, { path }: IgnoreRule): readonly string[] {
  return kind === 'Secret' && path[0] === 'stringData' ? ['data', ...path.slice(1)] : path;
}

/** Replaces the value at `path` by that of `live`; fields that `desired` lacks are not added. */
function replaced(desired: unknown, live: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return live;
  if (Array.isArray(desired)) {
    return desired.flatMap((item: unknown, index) => {
      if (head !== '*' && head !== String(index)) return [item];
      const there = counterpart(item, index, live);
      // The whole item is missing: that is drift, so it stays as helm applied it.
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

/** The live list item for a desired one: with the same name, else at the same index. */
function counterpart(item: unknown, index: number, live: unknown): unknown {
  if (!Array.isArray(live)) return ABSENT;
  const name = nameOf(item);
  const hasName = (other: unknown): boolean => nameOf(other) === name;
  const atPlace: unknown = live[index];
  // Names need not be unique, for example of volume mounts: the item at the same index comes first.
  const found: unknown = name === undefined || hasName(atPlace) ? atPlace : live.find(hasName);
  return found === undefined ? ABSENT : found;
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? item['name'] : undefined;
}
