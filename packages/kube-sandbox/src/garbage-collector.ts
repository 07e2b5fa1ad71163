import type { ApiState } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { deleteByController, writeObject } from './controller-writes.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './object-delete.ts';
import { type ResourceObject, withMeta } from './resource-object.ts';
import type { ObjectStore, StoreChange } from './sandbox-store.ts';

interface Located {
  readonly storage: string;
  readonly key: string;
}

/** Which objects name which owner, kept up to date with the store. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, Located>>();
  readonly #locations = new Map<string, Located>();

  constructor(store: ObjectStore) {
    for (const { storage, key, object } of store.all()) this.#put(storage, key, object);
    store.subscribe((change) => this.#onChange(change));
  }

  /** Where the object with this uid is; undefined when there is none. */
  locate(uid: string): Located | undefined {
    return this.#locations.get(uid);
  }

  dependentsOf(uid: string): readonly Located[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #onChange({ storage, key, type, object, previous }: StoreChange): void {
    if (previous !== undefined) this.#drop(storage, key, previous);
    if (type !== 'removed') this.#put(storage, key, object);
  }

  #put(storage: string, key: string, object: ResourceObject): void {
    this.#locations.set(object.metadata.uid ?? '', { storage, key });
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, Located>();
      dependents.set(`${storage} ${key}`, { storage, key });
      this.#dependents.set(uid, dependents);
    }
  }

  #drop(storage: string, key: string, object: ResourceObject): void {
    this.#locations.delete(object.metadata.uid ?? '');
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(`${storage} ${key}`);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}

/** Deletes objects whose owners are all gone, and carries out foreground and orphaning deletions. */
export function garbageCollector(index: OwnerIndex): Controller {
  return {
    name: 'garbage collector',
    reconcile: (state, storage, object) => {
      collectIfOrphan(state, index, storage, object);
      if (object.metadata.deletionTimestamp === undefined) return;
      const finalizers = object.metadata.finalizers ?? [];
      if (finalizers.includes(ORPHAN_FINALIZER)) orphanDependents(state, index, storage, object);
      else if (finalizers.includes(FOREGROUND_FINALIZER)) deleteDependents(state, index, storage, object);
    },
    removed: (state, _storage, object) => {
      for (const { dependent, storage } of dependents(state, index, object))
        collectIfOrphan(state, index, storage, dependent);
      for (const { uid } of object.metadata.ownerReferences ?? []) finishForeground(state, index, uid);
    },
  };
}

function dependents(
  state: ApiState,
  index: OwnerIndex,
  owner: ResourceObject,
): readonly { readonly storage: string; readonly dependent: ResourceObject }[] {
  return index.dependentsOf(owner.metadata.uid ?? '').flatMap(({ storage, key }) => {
    const dependent = state.store.get(storage, key);
    return dependent === undefined ? [] : [{ storage, dependent }];
  });
}

function collectIfOrphan(state: ApiState, index: OwnerIndex, storage: string, object: ResourceObject): void {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
  if (owners.some(({ uid }) => index.locate(uid) !== undefined)) return;
  deleteByController(state, storage, object);
}

function withoutFinalizer(object: ResourceObject, finalizer: string): ResourceObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return withMeta(object, { finalizers: finalizers.length === 0 ? undefined : finalizers });
}

function orphanDependents(state: ApiState, index: OwnerIndex, storage: string, owner: ResourceObject): void {
  for (const { storage: dependentStorage, dependent } of dependents(state, index, owner)) {
    const owners = (dependent.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    const ownerReferences = owners.length === 0 ? undefined : owners;
    writeObject(state, dependentStorage, dependent, withMeta(dependent, { ownerReferences }));
  }
  writeObject(state, storage, owner, withoutFinalizer(owner, ORPHAN_FINALIZER));
}

function deleteDependents(state: ApiState, index: OwnerIndex, storage: string, owner: ResourceObject): void {
  const blocking = dependents(state, index, owner).filter(({ dependent }) => blocks(dependent, owner));
  if (blocking.length === 0) {
    writeObject(state, storage, owner, withoutFinalizer(owner, FOREGROUND_FINALIZER));
    return;
  }
  for (const { storage: dependentStorage, dependent } of blocking) {
    if (dependent.metadata.deletionTimestamp === undefined)
      deleteByController(state, dependentStorage, dependent, 'Foreground');
  }
}

function blocks(dependent: ResourceObject, owner: ResourceObject): boolean {
  const references = dependent.metadata.ownerReferences ?? [];
  return references.some(
    (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
  );
}

/** An owner that waits for its dependents looks again when one of them is gone. */
function finishForeground(state: ApiState, index: OwnerIndex, ownerUid: string): void {
  const location = index.locate(ownerUid);
  const owner = location === undefined ? undefined : state.store.get(location.storage, location.key);
  if (location === undefined || owner?.metadata.deletionTimestamp === undefined) return;
  if ((owner.metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER))
    deleteDependents(state, index, location.storage, owner);
}
