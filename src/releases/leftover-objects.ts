import { hasCode } from '@addon-operator/base/errors';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { type ManifestObject, objectTitle, releaseObjects } from '@addon-operator/helm/manifest-object';
import { collectionPath, MAX_READS_AT_ONCE, readManifestObject } from '@addon-operator/helm/object-lookup';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { hasStatus, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { type DriverContext, lookupOptions } from './driver-context.ts';
import { servedVersion } from './unserved-kinds.ts';

/** An object in the cluster that only earlier revisions of a release list. */
export interface Leftover {
  readonly identity: ManifestObject;
  readonly object: KubeObject;
}

/** Objects that an uninstall would leave behind. */
export interface Leftovers {
  /** Objects that belong to the release, in the order of deletion. */
  readonly ours: readonly Leftover[];
  /** Titles of objects whose owner is unclear, with the reason. */
  readonly unclear: readonly string[];
}

/**
 * The decision about an object that only earlier revisions list. `leave`: it belongs to another
 * owner, or has to stay.
 */
export type Fate = 'delete' | 'leave' | { readonly unclear: string };

const NONE: Leftovers = { ours: [], unclear: [] };

/**
 * Finds objects that `helm uninstall` would leave behind: helm reads only the newest revision, and
 * after a failed upgrade, objects of earlier revisions may still exist. Without a failed revision
 * there are none.
 *
 * @throws errors of the API client
 */
export async function findLeftovers(
  context: DriverContext,
  latest: ReleaseRevision,
  signal: AbortSignal,
): Promise<Leftovers> {
  const { release } = latest;
  const history = await context.store.history(release, signal);
  if (history.every(({ status }) => status === 'deployed' || status === 'superseded')) return NONE;
  const known = new Set((await objectsOf(context, latest, signal)).map((object) => keyOf(context, object)));
  const candidates: ManifestObject[] = [];
  // The order of helm: objects that were applied last are deleted first.
  for (const revision of history.filter((other) => other.revision < latest.revision).toReversed())
    for (const object of (await objectsOf(context, revision, signal)).toReversed()) {
      const key = keyOf(context, object);
      if (known.has(key)) continue;
      known.add(key);
      candidates.push(object);
    }
  const found = new Map<ManifestObject, Leftover | string>();
  await mapParallel(candidates, MAX_READS_AT_ONCE, async (candidate) => {
    const what = await examine(context, release, candidate, signal);
    if (what !== undefined) found.set(candidate, what);
  });
  const all = candidates.flatMap((candidate) => found.get(candidate) ?? []);
  return {
    ours: all.filter((one) => typeof one !== 'string'),
    unclear: all.filter((one) => typeof one === 'string'),
  };
}

/**
 * Deletes the given objects if they are still the same (by uid).
 *
 * @returns titles of objects that may not be deleted, with the reason
 */
export async function deleteLeftovers(
  context: DriverContext,
  leftovers: readonly Leftover[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const options = lookupOptions(context);
  const refused: string[] = [];
  for (const { identity, object } of leftovers) {
    const collection = await collectionPath(identity, options, signal);
    if (collection === undefined) continue;
    const path = `${collection}/${encodeURIComponent(identity.name)}`;
    const body = { propagationPolicy: 'Background', preconditions: { uid: object.metadata.uid } };
    try {
      await requestIfPresent(context.kube, { method: 'DELETE', path, body }, signal);
    } catch (error) {
      if (!hasStatus(error, 403)) throw error;
      refused.push(`${objectTitle(identity)} (the operator may not delete it)`);
    }
  }
  return refused;
}

/**
 * Decides about an object by its metadata in the cluster. In doubt it stays: a deletion cannot be
 * undone.
 */
export function fateOf(
  { kind, metadata }: KubeObject,
  { release, namespace }: { readonly release: string; readonly namespace: string },
): Fate {
  const annotations = fieldsOf(metadata['annotations']);
  const { 'meta.helm.sh/release-name': owner, 'meta.helm.sh/release-namespace': ownerNamespace } =
    annotations;
  const policy = stringOf(annotations['helm.sh/resource-policy']).trim();
  if (metadata['deletionTimestamp'] !== undefined || policy.toLowerCase() === 'keep') return 'leave';
  if (owner === undefined || ownerNamespace === undefined)
    return { unclear: 'it does not name its release any more' };
  if (owner !== release || ownerNamespace !== namespace) return 'leave';
  const owners = metadata['ownerReferences'];
  if (Array.isArray(owners) && owners.length > 0) return { unclear: 'another object owns it as well' };
  if (kind === 'CustomResourceDefinition') return { unclear: 'all objects of its kind would go with it' };
  return 'delete';
}

async function examine(
  context: DriverContext,
  release: string,
  candidate: ManifestObject,
  signal: AbortSignal,
): Promise<Leftover | string | undefined> {
  const apiVersion = await servedVersion(context, candidate, signal);
  if (apiVersion === undefined) return undefined;
  const identity = { ...candidate, apiVersion };
  try {
    const object = await readManifestObject(identity, lookupOptions(context), signal);
    if (object === undefined) return undefined;
    const fate = fateOf({ ...object, kind: identity.kind }, { release, namespace: context.namespace });
    if (fate === 'leave') return undefined;
    return fate === 'delete' ? { identity, object } : `${objectTitle(identity)} (${fate.unclear})`;
  } catch (error) {
    if (!hasStatus(error, 403)) throw error;
    return `${objectTitle(identity)} (the operator may not read it)`;
  }
}

/** The objects of a revision; empty if its record cannot be read, at which helm fails too. */
async function objectsOf(
  { store, log }: DriverContext,
  revision: ReleaseRevision,
  signal: AbortSignal,
): Promise<readonly ManifestObject[]> {
  try {
    const { manifest } = await store.payload(revision, signal);
    return releaseObjects(parseManifest(manifest));
  } catch (error) {
    if (!hasCode(error, 'HELM_RELEASE_CORRUPT') && !hasCode(error, 'HELM_FAILED')) throw error;
    const { release } = revision;
    log.warn(
      { release, revision: revision.revision, error },
      'objects of a revision that cannot be read may remain',
    );
    return [];
  }
}

/** A key that is the same for an object in another version of its group. */
function keyOf({ namespace }: DriverContext, object: ManifestObject): string {
  const [group] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : [''];
  const place = object.namespace === '' ? namespace : object.namespace;
  return JSON.stringify([group, object.kind, place, object.name]);
}
