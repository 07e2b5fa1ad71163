import type { ApiState } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { deleteByController, writeObject } from './controller-writes.ts';
import { kindsOfDefinition } from './custom-resources.ts';
import { stringAt } from './json-access.ts';
import { DEFINITION_FINALIZER } from './object-delete.ts';
import { type ResourceObject, withMeta } from './resource-object.ts';
import type { StoreChange } from './sandbox-store.ts';

export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

/** Serves the kinds of the stored CRDs, from the moment that a CRD is committed. Returns how to stop. */
export function serveDefinitions(state: ApiState): () => void {
  for (const definition of state.store.list(DEFINITIONS)) register(state, definition);
  return state.store.subscribe((change: StoreChange) => {
    if (change.storage !== DEFINITIONS) return;
    if (change.type === 'removed') state.kinds.setCustomKinds(change.object.metadata.name, []);
    else register(state, change.object);
  });
}

function register(state: ApiState, definition: ResourceObject): void {
  state.kinds.setCustomKinds(definition.metadata.name, kindsOfDefinition(definition));
}

/** Deletes the custom resources of a CRD under deletion, then lets the CRD go. */
export const definitionController: Controller = {
  name: 'custom resource definition',
  reconcile: (state, storage, object) => {
    if (storage === DEFINITIONS && object.metadata.deletionTimestamp !== undefined) cleanUp(state, object);
  },
  removed: (state, storage) => {
    for (const definition of state.store.list(DEFINITIONS)) {
      if (definition.metadata.deletionTimestamp !== undefined && resourcesOf(definition) === storage)
        cleanUp(state, definition);
    }
  },
};

function resourcesOf(definition: ResourceObject): string {
  return `${stringAt(definition, 'spec', 'group')}/${stringAt(definition, 'spec', 'names', 'plural')}`;
}

function cleanUp(state: ApiState, definition: ResourceObject): void {
  const storage = resourcesOf(definition);
  for (const object of state.store.list(storage)) {
    if (object.metadata.deletionTimestamp === undefined) deleteByController(state, storage, object);
  }
  const finalizers = definition.metadata.finalizers ?? [];
  if (state.store.count(storage) > 0 || !finalizers.includes(DEFINITION_FINALIZER)) return;
  const rest = finalizers.filter((name) => name !== DEFINITION_FINALIZER);
  const draft = withMeta(definition, { finalizers: rest.length === 0 ? undefined : rest });
  writeObject(state, DEFINITIONS, definition, draft);
}
