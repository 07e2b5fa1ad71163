import type { KubeClient } from '../../kube/kube-client.ts';
import { type ApiResource, resourcePath } from '../../kube/kube-object.ts';
import { requestIfPresent } from '../../kube/request-if-present.ts';
import { isObject } from '../../lib/json.ts';
import {
  type ObjectChange,
  objectChange,
  type RawObject,
  releaseObjects,
  titleOf,
} from './manifest-changes.ts';

export interface LiveDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** Namespace of objects that name none. */
  readonly namespace: string;
}

/** Who we are to the server in the trial; nothing is stored under this name. */
const FIELD_MANAGER = 'addon-operator-diff';

/**
 * What applying a manifest would change in the cluster, as the API server answers to a trial of it: defaults and
 * admission are in it. Changes nothing. Hooks of helm are left out, data of Secrets shows as asterisks.
 *
 * @throws OperatorError KUBE_KIND_UNKNOWN for a kind the cluster does not serve; whatever the client throws
 */
export async function liveChanges(
  deps: LiveDeps,
  manifest: string,
  signal: AbortSignal,
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const object of releaseObjects(manifest)) {
    const change = await changeOf(deps, object, signal);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

async function changeOf(
  { kube, find, namespace }: LiveDeps,
  object: RawObject,
  signal: AbortSignal,
): Promise<ObjectChange | undefined> {
  const { apiVersion, kind } = object;
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const { name, namespace: own } = metadata;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string')
    return undefined;
  const resource = await find(apiVersion, kind, signal);
  const place = typeof own === 'string' && own !== '' ? own : namespace;
  const path = resourcePath(resource, resource.isNamespaced ? place : undefined, name);
  const live = await liveObject(kube, path, signal);
  const applied = await kube.request(
    {
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: 'true', dryRun: 'All' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    },
    signal,
  );
  const after = isObject(applied) ? withoutBookkeeping(applied) : object;
  return objectChange(titleOf(object, namespace), live && withoutBookkeeping(live), after);
}

async function liveObject(
  kube: LiveDeps['kube'],
  path: string,
  signal: AbortSignal,
): Promise<RawObject | undefined> {
  const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
  return isObject(object) ? object : undefined;
}

/** Fields that the server keeps for itself and that every trial changes. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation'];

function withoutBookkeeping(object: RawObject): RawObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const kept = Object.entries(metadata).filter(([key]) => !BOOKKEEPING.includes(key));
  return { ...object, metadata: Object.fromEntries(kept) };
}
