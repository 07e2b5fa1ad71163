import { type KubeClient, requestIfPresent } from '../../kube/kube-client.ts';
import { fieldsOf, isObject } from '../../lib/json.ts';
import { collectionPath, type LookupOptions } from '../object-lookup.ts';
import type { DesiredObject } from './desired-objects.ts';
import type { IgnoreRule } from './drift-policy.ts';
import { driftedFields } from './drifted-fields.ts';
import { HELM_MANAGER, writersOf } from './field-ownership.ts';
import { withIgnoredFields } from './ignored-fields.ts';

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

export interface Remedy {
  readonly path: string;
  readonly body: Fields;
}

/**
 * Compares an object with what helm applied. The server itself says what would change, by a trial of applying it again:
 * so other spellings of quantities, defaults and what webhooks do to each object are no differences.
 *
 * @throws whatever the client throws; KubeApiError also when the server refuses what helm applied
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
    // Somebody who writes in between must not be overwritten unseen.
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
