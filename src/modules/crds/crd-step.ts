import { fieldsOf } from '../../lib/json.ts';
import type { Crd } from './crd.ts';
import { changeOfCrd, newCrd } from './merge-crd.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is done next so that the cluster has a CRD as its file says. `body` is the object to be written. */
export type CrdStep =
  | { readonly type: 'keep' }
  | { readonly type: 'create'; readonly body: Fields }
  /** Only `status`; then it is looked at anew. */
  | { readonly type: 'drop-stored-versions'; readonly body: Fields }
  | { readonly type: 'replace'; readonly body: Fields }
  /** Nothing can be done; `reason` is for people. */
  | { readonly type: 'refuse'; readonly reason: string };

/** Decides about one CRD. `current` is the one in the cluster, undefined when there is none. */
export function nextCrdStep(
  current: Fields | undefined,
  crd: Crd,
  extraLabels: Readonly<Record<string, string>>,
): CrdStep {
  if (current === undefined) return { type: 'create', body: newCrd(crd, extraLabels) };
  if (fieldsOf(current['metadata'])['deletionTimestamp'] !== undefined)
    return { type: 'refuse', reason: 'it is being deleted; it is created again after that' };
  const { storedVersions, droppedStorage, object } = changeOfCrd(current, crd, extraLabels);
  if (droppedStorage !== undefined) {
    return {
      type: 'refuse',
      reason: `version ${droppedStorage} is missing in the file, but the cluster stores objects in it: keep it in the file with served: false and storage: false, next to the version with storage: true; remove it after all objects have been rewritten in the new version`,
    };
  }
  if (storedVersions !== undefined) {
    const body = { ...current, status: { ...fieldsOf(current['status']), storedVersions } };
    return { type: 'drop-stored-versions', body };
  }
  return object === undefined ? { type: 'keep' } : { type: 'replace', body: object };
}
