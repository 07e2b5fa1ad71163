import { hasStatus, type KubeClient, metadataAccept } from '../kube/kube-client.ts';
import { fieldsOf, isObject } from '../lib/json.ts';

const ACCEPT = metadataAccept('PartialObjectMetadataList');
const PAGE_SIZE = '500';

/** `metadata` of every object in a collection that matches a label selector, without the rest of the objects. */
export async function listMetadata(
  kube: KubeClient,
  collectionPath: string,
  labelSelector: string,
  signal: AbortSignal,
): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let token: string | undefined;
  do {
    const list = await kube.request(
      {
        method: 'GET',
        path: collectionPath,
        query: { labelSelector, limit: PAGE_SIZE, continue: token },
        accept: ACCEPT,
      },
      signal,
    );
    const items = isObject(list) && Array.isArray(list['items']) ? list['items'] : [];
    for (const item of items) found.push(metadataOf(item));
    const next = metadataOf(list)['continue'];
    token = typeof next === 'string' && next !== '' ? next : undefined;
  } while (token !== undefined);
  return found;
}

/** What a list has; undefined when our role may not list there, though it may read single objects. */
export async function ifAllowed<List>(list: Promise<List>): Promise<List | undefined> {
  try {
    return await list;
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

/** `metadata` of an object; empty when it has none. */
export function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  return fieldsOf(fieldsOf(object)['metadata']);
}
