// Lists a selection in pages of 500 objects. `reflector.ts` passes in what each page means to it; this file
// cares for what can happen between pages: a continue token expires (410, the list starts again), the server
// is behind the known version (504 or an older list), an item is no object (it is named and left out).

import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { hasStatus, type KubeClient, metadataAccept } from './kube-client.ts';
import { isOlderVersion, type KubeObject, resourcePath, toKubeObject } from './kube-object.ts';
import type { Selection } from './reflector-sink.ts';

/** As client-go: large enough for few requests, small enough for the memory of both sides. */
const PAGE_SIZE = 500;
const MAX_ATTEMPTS = 3;

interface ListRequest {
  readonly selection: Selection;
  /** The list must not be older than this resource version, unless the server itself has gone back. */
  readonly notOlderThan: string | undefined;
  readonly onPage: (objects: readonly KubeObject[]) => Promise<void>;
  /** An item of the list is no object, and left out; `problem` names it. */
  readonly onUnusable: (problem: string) => void;
  /** Everything given to `onPage` so far is void: the list starts again. */
  readonly onRestart: () => void;
}

/**
 * Lists a selection page by page and resolves with the resource version of the whole. A list that expires half-way
 * starts again. When the server does not reach `notOlderThan` (its store was restored from a copy), the newest state it
 * has is taken instead.
 *
 * @throws KubeApiError for a status outside 2xx
 * @throws OperatorError KUBE_UNREACHABLE without a response, KUBE_API when the response is no list
 */
export async function listAll(kube: KubeClient, request: ListRequest, signal: AbortSignal): Promise<string> {
  let { notOlderThan } = request;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryList(kube, { ...request, notOlderThan }, signal);
    if (outcome.status === 'complete') return outcome.resourceVersion;
    if (attempt === MAX_ATTEMPTS) throw outcome.error;
    if (outcome.status === 'too-old') notOlderThan = undefined;
    request.onRestart();
  }
}

/**
 * The resource version that the server has now.
 *
 * @throws as {@link listAll}
 */
export async function currentVersion(
  kube: KubeClient,
  selection: Selection,
  signal: AbortSignal,
): Promise<string> {
  const from = { notOlderThan: undefined, next: undefined, limit: 1 };
  return (await fetchPage(kube, selection, from, signal)).resourceVersion;
}

/** `expired`: the continue token is too old. `too-old`: the server does not have the requested version. */
type ListOutcome =
  | { readonly status: 'complete'; readonly resourceVersion: string }
  | { readonly status: 'expired' | 'too-old'; readonly error: Error };

/** One attempt at the whole list. */
async function tryList(kube: KubeClient, request: ListRequest, signal: AbortSignal): Promise<ListOutcome> {
  const { selection, notOlderThan } = request;
  let resourceVersion: string | undefined;
  let next: string | undefined;
  let fetching = fetchPage(kube, selection, { notOlderThan, next }, signal);
  do {
    let page: ListPage;
    try {
      page = await fetching;
    } catch (error) {
      if (hasStatus(error, 410)) return { status: 'expired', error };
      if (notOlderThan !== undefined && hasStatus(error, 504)) return { status: 'too-old', error };
      throw error;
    }
    resourceVersion ??= page.resourceVersion;
    if (notOlderThan !== undefined && isOlderVersion(resourceVersion, notOlderThan)) {
      const error = notAList(
        selection,
        `it is of version ${resourceVersion}, older than the known ${notOlderThan}`,
      );
      return { status: 'too-old', error };
    }
    next = page.next;
    // The server makes the next page while this one is filtered; a failure is seen when it is awaited.
    if (next !== undefined) {
      fetching = fetchPage(kube, selection, { notOlderThan, next }, signal);
      fetching.catch(() => undefined);
    }
    for (const problem of page.unusable) request.onUnusable(problem);
    await request.onPage(page.objects);
  } while (next !== undefined);
  return { status: 'complete', resourceVersion };
}

/** One page of a list. */
interface ListPage {
  readonly resourceVersion: string;
  readonly objects: readonly KubeObject[];
  /** One sentence for each item that is left out. */
  readonly unusable: readonly string[];
  readonly next: string | undefined;
}

/** One request. Only the first page may name a version: the continue token carries it on. */
async function fetchPage(
  kube: KubeClient,
  selection: Selection,
  from: {
    readonly notOlderThan: string | undefined;
    readonly next: string | undefined;
    readonly limit?: number;
  },
  signal: AbortSignal,
): Promise<ListPage> {
  const isFirst = from.next === undefined;
  const query = {
    ...selectionQuery(selection),
    limit: String(from.limit ?? PAGE_SIZE),
    continue: from.next,
    resourceVersion: isFirst ? from.notOlderThan : undefined,
    resourceVersionMatch: isFirst && from.notOlderThan !== undefined ? 'NotOlderThan' : undefined,
  };
  const path = resourcePath(selection.resource, selection.namespace);
  const accept = selectionAccept(selection, 'PartialObjectMetadataList');
  const reply = await kube.request({ method: 'GET', path, query, ...accept }, signal);
  if (!isObject(reply) || !isObject(reply['metadata'])) throw notAList(selection, 'it has no metadata');
  const { resourceVersion, continue: next } = reply['metadata'];
  if (typeof resourceVersion !== 'string') throw notAList(selection, 'it has no resourceVersion');
  return {
    resourceVersion,
    ...toObjects(reply['items'] ?? [], selection),
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

/** Separates the objects from items that have no name and could not be addressed. */
function toObjects(items: unknown, selection: Selection): Pick<ListPage, 'objects' | 'unusable'> {
  if (!Array.isArray(items)) throw notAList(selection, 'its items are not an array');
  const objects: KubeObject[] = [];
  const unusable: string[] = [];
  for (const [index, item] of items.entries()) {
    const object = toKubeObject(item, selection.resource);
    if (object === undefined) unusable.push(`item ${index + 1} of a list (${nearestName(item)}) has no name`);
    else objects.push(object);
  }
  return { objects, unusable };
}

/** The namespace and uid of an object without a name, for messages. */
export function nearestName(object: unknown): string {
  const { namespace, uid } = fieldsOf(fieldsOf(object)['metadata']);
  return `namespace ${stringOf(namespace) || 'unknown'}, uid ${stringOf(uid) || 'unknown'}`;
}

/** A response with status 200 that is no list, for example from a proxy. */
function notAList(selection: Selection, problem: string): OperatorError {
  const path = resourcePath(selection.resource, selection.namespace);
  return new OperatorError(
    'KUBE_API',
    `Cannot use the list that the API server gave for ${path}: ${problem}`,
  );
}

/** The query parts that narrow a list or a watch to the selection. */
export function selectionQuery(selection: Selection): Readonly<Record<string, string | undefined>> {
  return { labelSelector: selection.labelSelector, fieldSelector: selection.fieldSelector };
}

/** The `Accept` header for `shape` if the selection needs only metadata. */
export function selectionAccept(
  { isMetadataOnly = false }: Selection,
  shape: Parameters<typeof metadataAccept>[0],
): { readonly accept?: string } {
  return isMetadataOnly ? { accept: metadataAccept(shape) } : {};
}
