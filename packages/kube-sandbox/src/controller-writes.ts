import type { ApiState } from './api-state.ts';
import { storageOf } from './kinds.ts';
import { createObject } from './object-create.ts';
import { deleteObject, type PropagationPolicy } from './object-delete.ts';
import { updateObject } from './object-update.ts';
import type { ResourceObject } from './resource-object.ts';
import { objectKey } from './resource-object.ts';

/** Field manager of everything that a cluster's own controllers write. */
const OPTIONS = { manager: 'kube-controller-manager', isDryRun: false };

/** Sets the status of an object, if it differs from what it is. */
export function writeStatus(state: ApiState, storage: string, object: ResourceObject, status: unknown): void {
  const kind = state.kinds.ofStorage(storage);
  if (kind === undefined) return;
  updateObject(
    state,
    { kind, current: object, draft: { ...object, status }, subresource: 'status' },
    OPTIONS,
  );
}

/** Replaces an object, its status excepted, if it differs. */
export function writeObject(
  state: ApiState,
  storage: string,
  current: ResourceObject,
  draft: ResourceObject,
): void {
  const kind = state.kinds.ofStorage(storage);
  if (kind === undefined) return;
  updateObject(state, { kind, current, draft, subresource: '' }, OPTIONS);
}

/** Creates an object unless one of its name exists. */
export function ensureObject(state: ApiState, draft: ResourceObject): void {
  const kind = state.kinds.ofObject(draft.apiVersion, draft.kind);
  if (kind === undefined) return;
  const { namespace, name } = draft.metadata;
  if (state.store.get(storageOf(kind), objectKey(namespace, name)) !== undefined) return;
  createObject(state, { kind, namespace, draft }, OPTIONS);
}

/** Deletes an object as a client would. */
export function deleteByController(
  state: ApiState,
  storage: string,
  object: ResourceObject,
  propagationPolicy: PropagationPolicy = 'Background',
): void {
  const kind = state.kinds.ofStorage(storage);
  if (kind === undefined) return;
  deleteObject(state, kind, object, { propagationPolicy, uid: '', resourceVersion: '', isDryRun: false });
}
