import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { type DesiredObject, desiredObjects } from '@addon-operator/helm/desired-objects';
import { HELM_MANAGER } from '@addon-operator/helm/field-ownership';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { objectTitle } from '@addon-operator/helm/manifest-object';
import { collectionPath, type LookupOptions, MAX_READS_AT_ONCE } from '@addon-operator/helm/object-lookup';
import { fieldsOf } from '@addon-operator/json';
import { CRD_KIND } from '@addon-operator/kube-client/crd';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import { type DriverContext, lookupOptions } from './driver-context.ts';

/** An object that the API server would refuse. */
export interface RefusedObject {
  /** Such as `shop/Deployment/web`; without a namespace in the manifest it begins with `/`. */
  readonly object: string;
  /** The message of the API server. */
  readonly reason: string;
}

/** Kinds by group, as `group/Kind`. */
export type KindKey = `${string}/${string}`;

const MAX_REASON_CHARACTERS = 1_000;
/** A webhook with side effects takes part in no dry run; the real apply may succeed. */
const NO_DRY_RUN = /does not support dry run/;

/**
 * Applies each object of a manifest on the server as a dry run: admission, quotas, immutable fields
 * and schemas respond to it. A request without a verdict (time-out, an API server or webhook that is
 * away) finds nothing, since it says nothing about the object. Nothing is changed.
 *
 * @param brought kinds whose CRD comes with the same content, and may be absent or older now
 * @throws OperatorError HELM_FAILED when the manifest is no YAML; `signal.reason` on abort
 */
export async function refusedObjects(
  context: DriverContext,
  { release, manifest }: { readonly release: string; readonly manifest: string },
  brought: ReadonlySet<KindKey>,
  signal: AbortSignal,
): Promise<readonly RefusedObject[]> {
  const documents = parseManifest(manifest).map(({ text }) => text);
  const { objects } = desiredObjects(documents, context.readYaml, { release, namespace: context.namespace });
  const renderedCrds = objects.filter(({ kind }) => kind === CRD_KIND);
  const kinds = new Set([
    ...brought,
    ...renderedCrds.map(({ fields }) => kindOfCrd(fieldsOf(fields['spec']))),
  ]);
  const judged = objects.filter(({ apiVersion, kind }) => !kinds.has(kindKey(apiVersion, kind)));
  const namespaces = new Set(objects.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name));
  const found = await mapParallel(judged, MAX_READS_AT_ONCE, async (object) => {
    // In a namespace that the same content brings, nothing can be tried yet.
    if (namespaces.has(object.namespace)) return undefined;
    const reason = await refusalOf(object, lookupOptions(context), signal);
    return reason === undefined ? undefined : { object: objectTitle(object), reason };
  });
  return found.filter((refused) => refused !== undefined);
}

/** The kind that the spec of a CRD defines. */
export function kindOfCrd(spec: Readonly<Record<string, unknown>>): KindKey {
  return `${String(spec['group'])}/${String(fieldsOf(spec['names'])['kind'])}`;
}

function kindKey(apiVersion: string, kind: string): KindKey {
  const [group = '', version] = apiVersion.split('/');
  return `${version === undefined ? '' : group}/${kind}`;
}

async function refusalOf(
  object: DesiredObject,
  options: LookupOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  try {
    const collection = await collectionPath(object, options, signal);
    if (collection === undefined)
      return `the API server does not serve ${object.kind} of ${object.apiVersion}`;
    const request = {
      method: 'PATCH',
      path: `${collection}/${encodeURIComponent(object.name)}`,
      query: { fieldManager: HELM_MANAGER, force: 'true', dryRun: 'All' },
      contentType: 'application/apply-patch+yaml',
      body: object.fields,
    } as const;
    await options.kube.request(request, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof KubeApiError && isVerdict(error)
      ? cutMiddle(error.message, MAX_REASON_CHARACTERS)
      : undefined;
  }
}

/** Whether the API server has judged the object: 401, 409, 429 and 5xx say nothing about it. */
function isVerdict({ status, message }: KubeApiError): boolean {
  if (NO_DRY_RUN.test(message)) return false;
  return status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status);
}
