import { KubeApiError } from '../kube/kube-client.ts';
import { mapParallel } from '../lib/map-parallel.ts';
import type { DesiredObject } from './drift/desired-objects.ts';
import { HELM_MANAGER } from './drift/field-ownership.ts';
import { type ManifestObject, objectTitle } from './manifest-object.ts';
import { collectionPath, type LookupOptions, MAX_READS_AT_ONCE } from './object-lookup.ts';

/** A field that has another value than the chart gives it, because somebody set it. */
export interface FieldConflict {
  /** As the server writes it, for instance `.spec.replicas`. */
  readonly field: string;
  /** Who set it, for instance `kubectl-edit`. */
  readonly manager: string;
}

export interface ConflictingObject {
  readonly object: ManifestObject;
  readonly conflicts: readonly FieldConflict[];
}

const CONFLICT_REASON = 'FieldManagerConflict';
const MANAGER = /^conflict with "((?:[^"\\]|\\.)*)"/;

/**
 * Which fields an apply of these objects would take from others: one request for each object, a trial of applying it
 * without force. An object that is not there, or that the server refuses for another reason, has none: helm will tell.
 *
 * @returns only objects with conflicts, in the order given
 * @throws OperatorError KUBE_UNREACHABLE; `signal.reason` on abort
 */
export async function fieldConflicts(
  objects: readonly DesiredObject[],
  options: LookupOptions,
  signal: AbortSignal,
): Promise<readonly ConflictingObject[]> {
  const found = await mapParallel(objects, MAX_READS_AT_ONCE, async (object) => ({
    object,
    conflicts: await conflictsOf(object, options, signal),
  }));
  return found.filter(({ conflicts }) => conflicts.length > 0);
}

/** One line for people: `/Deployment/web: .spec.replicas (kubectl-edit)`. */
export function conflictText({ object, conflicts }: ConflictingObject): string {
  const fields = conflicts.map(({ field, manager }) => `${field} (${manager})`);
  return `${objectTitle(object)}: ${fields.join(', ')}`;
}

async function conflictsOf(
  object: DesiredObject,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<readonly FieldConflict[]> {
  signal.throwIfAborted();
  const collection = await collectionPath(object, options, signal);
  if (collection === undefined) return [];
  const request = {
    method: 'PATCH',
    path: `${collection}/${encodeURIComponent(object.name)}`,
    query: { fieldManager: HELM_MANAGER, force: 'false', dryRun: 'All' },
    contentType: 'application/apply-patch+yaml',
    body: object.fields,
  } as const;
  try {
    await options.kube.request(request, signal);
    return [];
  } catch (error) {
    if (!(error instanceof KubeApiError)) throw error;
    return error.causes.flatMap(({ reason, field, message }) => {
      const manager = MANAGER.exec(message)?.[1];
      // What helm wrote by an update, as helm 3 does, is helm's.
      if (reason !== CONFLICT_REASON || manager === undefined || manager === HELM_MANAGER) return [];
      return [{ field, manager }];
    });
  }
}
