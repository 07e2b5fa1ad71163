// Reads single objects of a release from the cluster. An object whose kind is not served counts as missing:
// its CRD may have been deleted. All other failures throw, so that an outage is never taken for a deletion.

import { hasCode } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import {
  type KubeClient,
  metadataAccept,
  metadataOf,
  requestIfPresent,
} from '@addon-operator/kube-client/kube-client';
import { type ApiResource, type KubeObject, resourcePath } from '@addon-operator/kube-client/kube-object';
import type { ManifestObject } from './manifest-object.ts';
import type { SharedReads } from './shared-reads.ts';

export interface LookupOptions {
  readonly kube: KubeClient;
  /** Finds the resource of a kind; throws KUBE_KIND_UNKNOWN. */
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** Namespace of objects whose manifest names none. */
  readonly namespace: string;
  /** Lists that others have read, or will use; see {@link SharedReads}. */
  readonly lists?: Pick<SharedReads, 'names'>;
}

/** Reads of objects that one check may have under way. */
export const MAX_READS_AT_ONCE = 5;
const ACCEPT = metadataAccept('PartialObjectMetadata');

/** URL path of the collection an object is in; undefined when the server does not know its kind. */
export async function collectionPath(
  object: ManifestObject,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const resource = await options.find(object.apiVersion, object.kind, signal);
    const namespace = object.namespace === '' ? options.namespace : object.namespace;
    return resourcePath(resource, resource.isNamespaced ? namespace : undefined);
  } catch (error) {
    if (hasCode(error, 'KUBE_KIND_UNKNOWN')) return undefined;
    throw error;
  }
}

/** `metadata` of an object in the cluster; undefined when the object, or its kind, does not exist. */
export async function readMetadata(
  object: ManifestObject,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const response = await readPart(object, options, ACCEPT, signal);
  return response === undefined ? undefined : metadataOf(response);
}

/** An object as it is in the cluster; undefined when the object, or its kind, does not exist. */
export async function readManifestObject(
  object: ManifestObject,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const response = await readPart(object, options, 'application/json', signal);
  return isObject(response) && isObject(response['metadata']) ? (response as KubeObject) : undefined;
}

/** One GET, of the whole object or of its metadata only. */
async function readPart(
  object: ManifestObject,
  options: LookupOptions,
  accept: string,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const collection = await collectionPath(object, options, signal);
  if (collection === undefined) return undefined;
  const path = `${collection}/${encodeURIComponent(object.name)}`;
  return await requestIfPresent(options.kube, { method: 'GET', path, accept }, signal);
}
