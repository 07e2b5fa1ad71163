import type { ApiState } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { deleteByController, ensureObject } from './controller-writes.ts';
import { objectKey, type ResourceObject } from './resource-object.ts';

const NAMESPACES = '/namespaces';

/** Gives each namespace what every namespace has, and empties those under deletion before they go. */
export const namespaceController: Controller = {
  name: 'namespace',
  reconcile: (state, storage, object) => {
    if (storage !== NAMESPACES) return;
    if (object.metadata.deletionTimestamp === undefined) furnish(state, object.metadata.name);
    else empty(state, object);
  },
  removed: (state, storage, object) => {
    const { namespace } = object.metadata;
    if (namespace === undefined) return;
    const owner = state.store.get(NAMESPACES, objectKey(undefined, namespace));
    if (owner === undefined) return;
    if (owner.metadata.deletionTimestamp !== undefined) empty(state, owner);
    else if (storage === '/serviceaccounts' || storage === '/configmaps') furnish(state, namespace);
  },
};

function furnish(state: ApiState, namespace: string): void {
  ensureObject(state, {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    metadata: { name: 'default', namespace },
  });
  ensureObject(state, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'kube-root-ca.crt', namespace },
    data: { 'ca.crt': '' },
  });
}

/** Deletes what is in a namespace; the namespace itself once nothing is left. */
function empty(state: ApiState, namespace: ResourceObject): void {
  const { name, finalizers = [] } = namespace.metadata;
  for (const storage of state.store.storages()) {
    for (const object of state.store.list(storage, name)) {
      if (object.metadata.deletionTimestamp === undefined) deleteByController(state, storage, object);
    }
  }
  const isEmpty = state.store.storages().every((storage) => state.store.count(storage, name) === 0);
  if (isEmpty && finalizers.length === 0) state.store.remove(NAMESPACES, objectKey(undefined, name));
}
