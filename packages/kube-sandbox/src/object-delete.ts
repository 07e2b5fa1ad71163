import { fieldsOf } from '@addon-operator/json';
import { type ApiState, timestamp } from './api-state.ts';
import { isEvent } from './event-versions.ts';
import { scalarString, stringAt, valueAt } from './json-access.ts';
import { isNamespace, type ServedKind, storageOf } from './kinds.ts';
import { objectKey, type ResourceObject, withMeta } from './resource-object.ts';
import { badRequest, conflict, invalid } from './status-error.ts';

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';
export const DEFINITION_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly propagationPolicy: PropagationPolicy;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isDryRun: boolean;
}

/**
 * Reads DeleteOptions from the query and the decoded body (undefined when there is none).
 *
 * @throws StatusError 400 or 422
 */
export function parseDeleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const fields = fieldsOf(body);
  const policy = query.get('propagationPolicy') ?? fields['propagationPolicy'];
  const orphans = fields['orphanDependents'] ?? query.get('orphanDependents');
  if (policy !== undefined && policy !== null && orphans !== undefined && orphans !== null)
    throw badRequest('orphanDependents and deletionPropagation cannot be both set');
  return {
    propagationPolicy: policyOf(policy ?? (scalarString(orphans) === 'true' ? 'Orphan' : 'Background')),
    uid: stringAt(fields, 'preconditions', 'uid'),
    resourceVersion: stringAt(fields, 'preconditions', 'resourceVersion'),
    isDryRun: query.getAll('dryRun').includes('All') || valueAt(fields, 'dryRun', 0) === 'All',
  };
}

function policyOf(policy: unknown): PropagationPolicy {
  if (policy === 'Background' || policy === 'Foreground' || policy === 'Orphan') return policy;
  const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
  const cause = { reason: 'FieldValueNotSupported', message, field: 'propagationPolicy' };
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, [cause]);
}

/** The result of a deletion: the object is gone, or it waits for finalizers. */
export type DeleteResult =
  | { readonly type: 'removed'; readonly object: ResourceObject }
  | { readonly type: 'terminating'; readonly object: ResourceObject };

/**
 * Deletes an object, or marks it as under deletion while finalizers hold it.
 *
 * @throws StatusError 409 when a precondition fails
 */
export function deleteObject(
  state: ApiState,
  kind: ServedKind,
  current: ResourceObject,
  options: DeleteOptions,
): DeleteResult {
  checkPreconditions(kind, current, options);
  const storage = storageOf(kind);
  const key = objectKey(current.metadata.namespace, current.metadata.name);
  const finalizers = finalizersOnDelete(kind, current, options.propagationPolicy);
  if (finalizers.length === 0 && !isNamespace(kind)) {
    if (options.isDryRun) return { type: 'removed', object: current };
    return { type: 'removed', object: state.store.remove(storage, key) ?? current };
  }
  if (current.metadata.deletionTimestamp !== undefined) return { type: 'terminating', object: current };
  const marked = withMeta(current, {
    deletionTimestamp: timestamp(state.clock),
    deletionGracePeriodSeconds: 0,
    generation: current.metadata.generation === undefined ? undefined : current.metadata.generation + 1,
    finalizers: finalizers.length === 0 ? undefined : finalizers,
  });
  const object = isNamespace(kind) ? { ...marked, status: { phase: 'Terminating' } } : marked;
  return { type: 'terminating', object: options.isDryRun ? object : state.store.write(storage, key, object) };
}

function finalizersOnDelete(
  kind: ServedKind,
  object: ResourceObject,
  policy: PropagationPolicy,
): readonly string[] {
  const finalizers = new Set(object.metadata.finalizers ?? []);
  // Events have no dependents.
  if (object.metadata.deletionTimestamp !== undefined || isEvent(kind)) return [...finalizers];
  finalizers.delete(FOREGROUND_FINALIZER);
  finalizers.delete(ORPHAN_FINALIZER);
  if (policy === 'Foreground') finalizers.add(FOREGROUND_FINALIZER);
  if (policy === 'Orphan') finalizers.add(ORPHAN_FINALIZER);
  if (kind.kind === 'CustomResourceDefinition') finalizers.add(DEFINITION_FINALIZER);
  return [...finalizers];
}

function checkPreconditions(kind: ServedKind, current: ResourceObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = current.metadata;
  const subject = { group: '', plural: kind.kind };
  if (options.uid !== '' && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid ?? ''}). The object might have been deleted and then recreated`;
    throw conflict(subject, name, why);
  }
  if (options.resourceVersion !== '' && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ''}). The object might have been modified`;
    throw conflict(subject, name, why);
  }
}
