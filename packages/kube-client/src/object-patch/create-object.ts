import { OperatorError } from '@addon-operator/base/errors';
import { isObject, stringifyJson } from '@addon-operator/json';
import { hasStatus, type KubeRequest, requestIfPresent } from '../kube-client.ts';
import { type ApiResource, apiVersionOf, resourcePath } from '../kube-object.ts';
import {
  isAlreadyExists,
  isConflict,
  isOutcomeUnknown,
  type PatchAttempt,
  type PatchContext,
  retryLost,
  warnOfWrongScope,
} from './patch-context.ts';
import { type CreateOperation, type NewObject, targetOf } from './patch-operation.ts';

/** The requests for an object that is to be created. */
interface Placement {
  readonly resource: ApiResource;
  readonly post: KubeRequest;
  /** Path of the object itself; undefined where the server makes up its name. */
  readonly path: string | undefined;
  readonly object: NewObject;
}

/**
 * Creates an object. One that exists already is a failure for Create, is kept by CreateIfNotExists, and is
 * replaced as a whole by CreateOrUpdate, from a fresh read if another client changes or deletes it in the meantime.
 */
export async function createObject(
  context: PatchContext,
  { operation, object }: CreateOperation,
  signal: AbortSignal,
): Promise<void> {
  const placement = await place(context, object, signal);
  try {
    switch (operation) {
      case 'Create':
        await create(context, placement, signal, (existing) => contains(existing, placement.object));
        break;
      case 'CreateIfNotExists':
        await create(context, placement, signal, () => true).catch(ignoreExisting);
        break;
      case 'CreateOrUpdate':
        await createOrReplace(context, placement, signal);
        break;
    }
  } catch (error) {
    if (hasStatus(error, 404) || hasStatus(error, 405)) {
      warnOfWrongScope(context.log, placement.resource, targetOf(object));
    }
    throw error;
  }
}

/** Resolves the kind and the paths. Throws KUBE_KIND_UNKNOWN for a kind that is not served. */
async function place(context: PatchContext, object: NewObject, signal: AbortSignal): Promise<Placement> {
  const resource = await context.find(object.apiVersion, object.kind, signal);
  const { namespace, name } = targetOf(object);
  // A short kind or a missing version is filled in; the server would refuse either.
  const complete = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
  return {
    resource,
    post: { method: 'POST', path: resourcePath(resource, namespace), body: complete },
    path: name === '' ? undefined : resourcePath(resource, namespace, name),
    object: complete,
  };
}

/**
 * One POST. If it is not known whether it succeeded, the object is read: if it is not there or may not be read, the POST is
 * repeated; if it is there, `isOurs` decides whether this POST can have created it.
 */
async function create(
  { kube }: PatchContext,
  { post, path }: Placement,
  signal: AbortSignal,
  isOurs: (existing: unknown) => boolean,
): Promise<void> {
  try {
    await kube.request(post, signal);
    return;
  } catch (error) {
    if (!isOutcomeUnknown(error) || path === undefined) throw error;
    const existing = await readIfAllowed(kube, path, signal);
    if (existing !== undefined && isOurs(existing)) return;
    if (existing !== undefined) {
      throw new OperatorError(
        'OBJECT_PATCH_FAILED',
        'The response to the creation was lost, and an existing object with this name differs from the requested one',
        { cause: error },
      );
    }
  }
  await kube.request(post, signal);
}

/** Permissions of hooks that only create objects do not include reading them: the next POST shows whether one is there. */
async function readIfAllowed(
  kube: PatchContext['kube'],
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await requestIfPresent(kube, { method: 'GET', path }, signal);
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

/** For CreateIfNotExists, an existing object is a success. */
function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/**
 * POST first, since most objects are new; on AlreadyExists a GET and a PUT with the version that was read. A
 * race, or the first unknown outcome, starts again from the POST.
 */
async function createOrReplace(
  context: PatchContext,
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const { kube } = context;
  const { post, path, object } = placement;
  let wasUnknown = false;
  const lostOrThrow = (error: unknown, isLost: boolean): PatchAttempt<void> => {
    // A server that does not respond twice is down, not contended.
    const isFirstUnknown = isOutcomeUnknown(error) && !wasUnknown && path !== undefined;
    if (!isLost && !isFirstUnknown) throw error;
    wasUnknown ||= isFirstUnknown;
    return { type: 'lost', error };
  };

  await retryLost(context, signal, async () => {
    try {
      await kube.request(post, signal);
      return { type: 'done', value: undefined };
    } catch (error) {
      if (!isAlreadyExists(error) || path === undefined) return lostOrThrow(error, false);
    }
    try {
      const existing = await kube.request({ method: 'GET', path }, signal);
      const body = {
        ...object,
        metadata: { ...object.metadata, resourceVersion: resourceVersionOf(existing) },
      };
      await kube.request({ method: 'PUT', path, body }, signal);
      return { type: 'done', value: undefined };
    } catch (error) {
      return lostOrThrow(error, isConflict(error) || hasStatus(error, 404));
    }
  });
}

function resourceVersionOf(object: unknown): unknown {
  return isObject(object) && isObject(object['metadata']) ? object['metadata']['resourceVersion'] : undefined;
}

/**
 * Whether `actual` has all of `wanted`. It may have more, for instance defaults, and lack what is empty: the API server
 * leaves out most fields without content, and sets those that are null as if they were not there.
 */
function contains(actual: unknown, wanted: unknown): boolean {
  const left: (readonly [actual: unknown, wanted: unknown])[] = [[actual, wanted]];
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const [is, should] = pair;
    // A loop with a stack, since an object may be nested thousands of levels deep.
    if (should === null || (is === undefined && isEmpty(should))) continue;
    if (Array.isArray(should)) {
      if (!Array.isArray(is) || is.length !== should.length) return false;
      for (const [index, item] of should.entries()) left.push([is[index], item]);
    } else if (isObject(should)) {
      if (is !== undefined && !isObject(is)) return false;
      for (const [key, value] of Object.entries(should)) left.push([is?.[key], value]);
    } else if (stringifyJson(is) !== stringifyJson(should)) return false;
  }
  return true;
}

/** The zero value of any type, which the API server may leave out. */
function isEmpty(value: unknown): boolean {
  return value === '' || value === false || value === 0 || (Array.isArray(value) && value.length === 0);
}
