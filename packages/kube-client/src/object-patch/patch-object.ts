// JQPatch, MergePatch and JSONPatch. The last two are sent to the server, which applies them atomically. A
// JQPatch is read, computed and written here, with the resourceVersion that was read: a conflict, or a lost
// response, starts again from a fresh read.

import { OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, isObject } from '@addon-operator/json';
import { hasStatus, type KubeRequest } from '../kube-client.ts';
import { resourcePath } from '../kube-object.ts';
import {
  isConflict,
  isOutcomeUnknown,
  type PatchAttempt,
  type PatchContext,
  retryLost,
  warnOfWrongScope,
} from './patch-context.ts';
import type { JqPatchOperation, MergePatchOperation, ObjectJsonPatch } from './patch-operation.ts';

/** The operations that change an existing object. */
type Patch = JqPatchOperation | MergePatchOperation | ObjectJsonPatch;

/** Paths of an object and of the part of it that is written. */
interface Paths {
  readonly object: string;
  readonly written: string;
}

/** Changes an object; starts again from a fresh read if another client changed it in the meantime. */
export async function patchObject(context: PatchContext, patch: Patch, signal: AbortSignal): Promise<void> {
  const { target, subresource } = patch;
  const resource = await context.find(target.apiVersion, target.kind, signal);
  const paths = {
    object: resourcePath(resource, target.namespace, target.name),
    written: resourcePath(resource, target.namespace, target.name, subresource),
  };
  try {
    if (patch.operation === 'JQPatch') await patchByJq(context, patch.jqFilter, paths, signal);
    else await patchByServer(context, requestOf(patch, paths.written), signal);
  } catch (error) {
    if (!hasStatus(error, 404)) throw error;
    warnOfWrongScope(context.log, resource, target);
    if (!patch.ignoreMissingObject) throw error;
  }
}

/** The request of a patch that the server applies. */
function requestOf(patch: MergePatchOperation | ObjectJsonPatch, path: string): KubeRequest {
  return patch.operation === 'MergePatch'
    ? { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: patch.mergePatch }
    : { method: 'PATCH', path, contentType: 'application/json-patch+json', body: patch.jsonPatch };
}

/** Sends a patch; a conflict can come from a `resourceVersion` or a `test` in it, or from admission. */
async function patchByServer(
  context: PatchContext,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<void> {
  await retryLost(context, signal, async (): Promise<PatchAttempt<void>> => {
    try {
      await context.kube.request(request, signal);
      return { type: 'done', value: undefined };
    } catch (error) {
      if (isConflict(error)) return { type: 'lost', error };
      throw error;
    }
  });
}

/** Reads the object, runs the program on it, and writes the result unless it is the same. */
async function patchByJq(
  context: PatchContext,
  program: string,
  paths: Paths,
  signal: AbortSignal,
): Promise<void> {
  const { kube, jq } = context;
  const filter = await jq.compile(program, signal);
  // A server that does not respond twice is down, so only the first lost response is retried.
  let wasUnknown = false;
  await retryLost(context, signal, async (): Promise<PatchAttempt<void>> => {
    const object = await kube.request({ method: 'GET', path: paths.object }, signal);
    const changed = onlyObject(await filter.apply(object, signal));
    if (canonicalJson(changed) === canonicalJson(object)) return { type: 'done', value: undefined };
    try {
      await kube.request({ method: 'PUT', path: paths.written, body: changed }, signal);
      return { type: 'done', value: undefined };
    } catch (error) {
      // After a lost response the next read shows whether the write succeeded: then nothing is left to change.
      const isFirstUnknown = isOutcomeUnknown(error) && !wasUnknown;
      if (!isConflict(error) && !isFirstUnknown) throw error;
      wasUnknown ||= isFirstUnknown;
      return { type: 'lost', error };
    }
  });
}

/** The output of the program must be one object. Throws JQ_RUNTIME. */
function onlyObject(results: readonly unknown[]): Readonly<Record<string, unknown>> {
  const [object] = results;
  if (results.length === 1 && isObject(object) && typeof object['kind'] === 'string') return object;
  const got = results.length === 1 ? 'something else' : `${results.length} results`;
  throw new OperatorError(
    'JQ_RUNTIME',
    `failed to convert filterResult: the program must give exactly one object with a kind, and it gave ${got}`,
  );
}
