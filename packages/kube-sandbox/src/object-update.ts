import type { ApiState, WriteOptions } from './api-state.ts';
import { immutableProblems } from './immutable-fields.ts';
import { equalJson, withoutFields } from './json-access.ts';
import { isNamespace, type ServedKind, storageOf } from './kinds.ts';
import { recordUpdate } from './managed-fields.ts';
import {
  checkNamespace,
  decideFields,
  defaultObject,
  hasGeneration,
  invalidObject,
  type PreparedObject,
  writer,
} from './object-create.ts';
import { type ObjectMeta, objectKey, type ResourceObject, withMeta } from './resource-object.ts';
import { badRequest, conflict, modifiedConflict } from './status-error.ts';
import { objectProblems } from './validation/validate-object.ts';

export interface UpdateRequest {
  readonly kind: ServedKind;
  readonly current: ResourceObject;
  readonly draft: ResourceObject;
  /** `status` replaces the status alone; empty leaves it alone, where the kind has that subresource. */
  readonly subresource: string;
}

/**
 * Replaces an object. An update that changes nothing is not committed; one that takes the last finalizer of an object
 * under deletion removes it.
 *
 * @returns the object after the update
 * @throws StatusError
 */
export function updateObject(state: ApiState, request: UpdateRequest, options: WriteOptions): ResourceObject {
  const { kind, current, subresource } = request;
  const { object, defaulted } = replacedObject(state, request);
  const recorded = recordUpdate(current, defaulted, kind, writer(state, options, subresource));
  const next = withMeta(object, { managedFields: recorded.metadata.managedFields });
  return commitChange(state, { kind, current, next }, options);
}

/** The object that would replace `current`, with the managed fields of the draft. */
export function nextObject(state: ApiState, request: UpdateRequest): ResourceObject {
  return replacedObject(state, request).object;
}

function replacedObject(state: ApiState, request: UpdateRequest): PreparedObject {
  const { kind, current, draft, subresource } = request;
  checkIdentity(request);
  const merged =
    subresource === 'status' ? withStatusOf(current, draft) : withOldStatus(kind, current, draft);
  const meta = current.metadata;
  const replaced = withMeta(
    { ...merged, metadata: { ...merged.metadata, name: meta.name } },
    {
      namespace: meta.namespace,
      generateName: meta.generateName,
      uid: meta.uid,
      resourceVersion: meta.resourceVersion,
      generation: meta.generation,
      creationTimestamp: meta.creationTimestamp,
      deletionTimestamp: meta.deletionTimestamp,
      deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds,
      managedFields: managedFieldsOf(request),
    },
  );
  if (subresource === 'status') return { object: replaced, defaulted: replaced };
  const defaulted = defaultObject(kind, replaced);
  checkUpdate(kind, current, defaulted);
  const decided = decideFields(state, kind, defaulted, current);
  if (!hasGeneration(kind) || equalJson(countedFields(current), countedFields(decided)))
    return { object: decided, defaulted };
  return { object: withMeta(decided, { generation: (meta.generation ?? 0) + 1 }), defaulted };
}

/** @throws StatusError 422 */
function checkUpdate(kind: ServedKind, current: ResourceObject, next: ResourceObject): void {
  const causes = [...immutableProblems(kind, current, next)];
  const problems = objectProblems(kind, next, true);
  // The API server looks at what ConfigMaps and Secrets must keep before the rest.
  if (kind.group === '') causes.push(...problems);
  else causes.unshift(...problems);
  if (causes.length > 0) throw invalidObject(kind, current.metadata.name, causes);
}

/** A client may rewrite managed fields, but neither forget them by mistake nor reach them through a subresource. */
function managedFieldsOf({ current, draft, subresource }: UpdateRequest): ObjectMeta['managedFields'] {
  const { managedFields } = current.metadata;
  return subresource === '' ? (draft.metadata.managedFields ?? managedFields) : managedFields;
}

/** Commits `next` over `current` if it differs. */
export function commitChange(
  state: ApiState,
  change: { readonly kind: ServedKind; readonly current: ResourceObject; readonly next: ResourceObject },
  options: WriteOptions,
): ResourceObject {
  const { kind, current, next } = change;
  const storage = storageOf(kind);
  const key = objectKey(current.metadata.namespace, current.metadata.name);
  const isGone =
    next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
  // A namespace goes only when its controller has emptied it.
  if (isGone && !isNamespace(kind)) {
    if (!options.isDryRun) state.store.remove(storage, key);
    return next;
  }
  if (equalJson(current, next)) return current;
  return options.isDryRun ? next : state.store.write(storage, key, next);
}

function checkIdentity({ kind, current, draft }: UpdateRequest): void {
  const { name, uid, resourceVersion = '' } = draft.metadata;
  if (name !== current.metadata.name)
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${current.metadata.name})`,
    );
  checkNamespace(kind, current.metadata.namespace, draft);
  if (uid !== undefined && uid !== current.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`;
    throw conflict(kind, name, why);
  }
  if (resourceVersion !== '' && resourceVersion !== current.metadata.resourceVersion)
    throw modifiedConflict(kind, name);
}

function withStatusOf(current: ResourceObject, draft: ResourceObject): ResourceObject {
  const { kind, apiVersion, metadata } = current;
  const rest = withoutFields(current, 'status');
  const status = draft['status'] === undefined ? {} : { status: draft['status'] };
  return { ...rest, kind, apiVersion, metadata, ...status };
}

function withOldStatus(kind: ServedKind, current: ResourceObject, draft: ResourceObject): ResourceObject {
  return kind.hasStatus ? withStatusOf(draft, current) : draft;
}

/** The fields whose changes metadata.generation counts. */
function countedFields(object: ResourceObject): Record<string, unknown> {
  return withoutFields(object, 'apiVersion', 'kind', 'metadata', 'status');
}
