import { OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { hasStatus } from '../kube-client.ts';
import { resourcePath } from '../kube-object.ts';
import { type PatchContext, warnOfWrongScope } from './patch-context.ts';
import type { DeleteOperation } from './patch-operation.ts';

/** By operation, whether dependents are deleted first, deleted later, or kept. */
const PROPAGATION = {
  Delete: 'Foreground',
  DeleteInBackground: 'Background',
  DeleteNonCascading: 'Orphan',
} as const satisfies Record<DeleteOperation['operation'], string>;

/** Together with MAX_POLLS, 20 s: a hook that waits longer would block its queue. */
const POLL_INTERVAL_MS = 1_000;
const MAX_POLLS = 20;

/**
 * Deletes an object; a missing one is no failure. Delete waits until it is gone, 20 s at most; the others return when
 * the server has accepted.
 */
export async function deleteObject(
  context: PatchContext,
  { operation, target }: DeleteOperation,
  signal: AbortSignal,
): Promise<void> {
  const resource = await context.find(target.apiVersion, target.kind, signal);
  const path = resourcePath(resource, target.namespace, target.name);
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: PROPAGATION[operation] };
  let response: unknown;
  try {
    response = await context.kube.request({ method: 'DELETE', path, body }, signal);
  } catch (error) {
    if (!hasStatus(error, 404)) throw error;
    warnOfWrongScope(context.log, resource, target);
    return;
  }
  if (operation === 'Delete') await untilGone(context, path, uidOf(response), signal);
}

/**
 * Polls until the object is gone, or another one has its name. Throws OBJECT_PATCH_FAILED naming the
 * finalizers.
 */
async function untilGone(
  { kube, clock }: PatchContext,
  path: string,
  uid: unknown,
  signal: AbortSignal,
): Promise<void> {
  let finalizers: unknown;
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await clock.sleep(POLL_INTERVAL_MS, signal);
    let object: unknown;
    try {
      object = await kube.request({ method: 'GET', path }, signal);
    } catch (error) {
      if (hasStatus(error, 404)) return;
      throw error;
    }
    // Another client has created a new object of this name.
    if (uid !== undefined && uidOf(object) !== uid) return;
    finalizers =
      isObject(object) && isObject(object['metadata']) ? object['metadata']['finalizers'] : undefined;
  }
  const waiting = Array.isArray(finalizers) ? `; it waits for its finalizers: ${finalizers.join(', ')}` : '';
  throw new OperatorError(
    'OBJECT_PATCH_FAILED',
    `The object still exists ${(MAX_POLLS * POLL_INTERVAL_MS) / 1_000} s after its deletion${waiting}`,
  );
}

/** The uid of an object, or in the Status of a response to a deletion. */
function uidOf(response: unknown): unknown {
  if (!isObject(response)) return undefined;
  const holder = response['kind'] === 'Status' ? response['details'] : response['metadata'];
  return isObject(holder) ? holder['uid'] : undefined;
}
