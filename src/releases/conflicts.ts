import { OperatorError } from '@addon-operator/base/errors';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { type DesiredObject, desiredObjects } from '@addon-operator/helm/desired-objects';
import { HELM_MANAGER } from '@addon-operator/helm/field-ownership';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { type ManifestObject, objectTitle } from '@addon-operator/helm/manifest-object';
import {
  collectionPath,
  type LookupOptions,
  MAX_READS_AT_ONCE,
  readMetadata,
} from '@addon-operator/helm/object-lookup';
import { fieldsOf } from '@addon-operator/json';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { type DriverContext, lookupOptions } from './driver-context.ts';

const CONFLICT_POLICIES = ['overwrite', 'fail'] as const;

/**
 * The reaction to a field that the chart sets and that another field manager has set differently.
 * `overwrite`: the chart's value is applied. `fail`: nothing is applied, and the run of the module
 * fails.
 */
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/** Reads the key `conflicts` of a `module.yaml`; problems are added to `problems`. */
export function readConflictPolicy(value: unknown, problems: string[]): ConflictPolicy {
  if (value === null || value === undefined) return 'overwrite';
  const policy = CONFLICT_POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  problems.push(`conflicts: expected one of ${CONFLICT_POLICIES.join(', ')}, got ${JSON.stringify(value)}`);
  return 'overwrite';
}

/** A field that another field manager has set to another value than the chart. */
interface FieldConflict {
  /** In the API server's notation, for example `.spec.replicas`. */
  readonly field: string;
  /** The field manager, for example `kubectl-edit`. */
  readonly manager: string;
}

interface ConflictingObject {
  readonly object: ManifestObject;
  readonly conflicts: readonly FieldConflict[];
}

const CONFLICT_REASON = 'FieldManagerConflict';
const MANAGER = /^conflict with "((?:[^"\\]|\\.)*)"/;

/**
 * The fields that an apply of these objects would take from other managers: one dry run per object,
 * without force. Objects that do not exist, or that the server refuses for another reason, have
 * none: helm reports that.
 *
 * @returns objects with conflicts, in the given order
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
    // Without force the server refuses an apply that would take fields, and names them.
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
      // Fields that helm 3 wrote by an update belong to the same manager.
      if (reason !== CONFLICT_REASON || manager === undefined || manager === HELM_MANAGER) return [];
      return [{ field, manager }];
    });
  }
}

interface ConflictCheck {
  readonly release: string;
  /** The manifest that helm is about to apply. */
  readonly manifest: string;
  readonly policy: ConflictPolicy;
}

/**
 * Logs the fields of other managers that helm is about to overwrite. helm 3 does not name the
 * managers that it overwrites, so for it this is checked only if the policy is to fail.
 *
 * @throws OperatorError HELM_FAILED for such fields with the policy `fail`
 */
export async function checkConflicts(
  context: DriverContext,
  { release, manifest, policy }: ConflictCheck,
  signal: AbortSignal,
): Promise<void> {
  if (context.helm.major < 4 && policy === 'overwrite') return;
  const documents = parseManifest(manifest).map(({ text }) => text);
  const { objects } = desiredObjects(documents, context.readYaml, { release, namespace: context.namespace });
  const found = await fieldConflicts(objects, lookupOptions(context), signal);
  if (policy === 'fail' && found.length > 0) {
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot deploy release "${release}": other field managers changed fields that its chart sets (${found.map(conflictText).join('; ')}). ` +
        'Revert these changes, remove the fields from the chart, or remove "conflicts: fail" from module.yaml. Nothing was changed.',
    );
  }
  for (const { object, conflicts } of found)
    context.log.warn(
      { release, resource: objectTitle(object), conflicts },
      'overwriting fields that were set by other field managers',
    );
}

interface ObjectOfOtherRelease {
  readonly object: ManifestObject;
  /** The release it belongs to, as `namespace/name`. */
  readonly owner: string;
}

const NAME_ANNOTATION = 'meta.helm.sh/release-name';
const NAMESPACE_ANNOTATION = 'meta.helm.sh/release-namespace';

/**
 * The objects that exist and are annotated as another release's. Objects without helm's annotations
 * belong to no release and may be adopted.
 */
export async function objectsOfOtherReleases(
  objects: readonly ManifestObject[],
  release: string,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<readonly ObjectOfOtherRelease[]> {
  const found = await mapParallel(
    objects,
    MAX_READS_AT_ONCE,
    async (object): Promise<ObjectOfOtherRelease | undefined> => {
      const metadata = await readMetadata(object, options, signal);
      const owner = otherOwner(metadata ?? {}, release, options.namespace);
      return owner === undefined ? undefined : { object, owner };
    },
  );
  return found.filter((foreign) => foreign !== undefined);
}

function otherOwner(
  metadata: Readonly<Record<string, unknown>>,
  release: string,
  namespace: string,
): string | undefined {
  const annotations = fieldsOf(metadata['annotations']);
  const name = annotations[NAME_ANNOTATION];
  if (typeof name !== 'string' || name === '') return undefined;
  const written = annotations[NAMESPACE_ANNOTATION];
  const ownerNamespace = typeof written === 'string' ? written : namespace;
  const isOurs = name === release && ownerNamespace === namespace;
  return isOurs ? undefined : `${ownerNamespace}/${name}`;
}
