import { canonicalJson, fieldsOf } from '@addon-operator/json';
import { CRD_API_VERSION, CRD_KIND, type Crd, versionsOf } from '@addon-operator/kube-client/crd';

type Fields = Readonly<Record<string, unknown>>;
type Labels = Readonly<Record<string, string>>;

/** The change that a CRD in the cluster needs. */
interface CrdChange {
  /**
   * `status.storedVersions` without versions that the file lacks; undefined if none is to be
   * removed.
   */
  readonly storedVersions: readonly string[] | undefined;
  /** The object to write; undefined if it is unchanged. */
  readonly object: Fields | undefined;
  /** The storage version of the cluster if the file lacks it: the API server refuses that. */
  readonly droppedStorage: string | undefined;
}

/** The object for a CRD that the cluster does not have. */
export function newCrd(crd: Crd, extraLabels: Labels): Fields {
  const { name, labels, annotations, spec } = crd;
  return {
    apiVersion: CRD_API_VERSION,
    kind: CRD_KIND,
    metadata: { name, labels: { ...labels, ...extraLabels }, annotations },
    spec,
  };
}

/**
 * Compares a CRD of a module with the one in the cluster. The cluster's `conversion` stays, because
 * it belongs to the operator that serves the webhook; so do labels and annotations that the file
 * does not set.
 */
export function changeOfCrd(current: Fields, crd: Crd, extraLabels: Labels): CrdChange {
  const metadata = fieldsOf(current['metadata']);
  const labels = { ...fieldsOf(metadata['labels']), ...crd.labels, ...extraLabels };
  const annotations = { ...fieldsOf(metadata['annotations']), ...crd.annotations };
  const currentSpec = fieldsOf(current['spec']);
  const { conversion } = currentSpec;
  const spec = { ...crd.spec, ...(conversion === undefined ? {} : { conversion }) };
  const object = { ...current, metadata: { ...metadata, labels, annotations }, spec };
  const isSame = canonicalJson(comparableCrd(object)) === canonicalJson(comparableCrd(current));
  return {
    storedVersions: remainingVersions(current, crd),
    object: isSame ? undefined : object,
    droppedStorage: droppedStorage(currentSpec, crd),
  };
}

/**
 * The parts of a CRD that decide about a write: spec, labels and annotations, with the API server's
 * defaults.
 */
export function comparableCrd(crd: Fields): Fields {
  const { labels, annotations } = fieldsOf(crd['metadata']);
  return {
    metadata: { labels: fieldsOf(labels), annotations: fieldsOf(annotations) },
    spec: withDefaults(fieldsOf(crd['spec'])),
  };
}

function droppedStorage(currentSpec: Fields, crd: Crd): string | undefined {
  const stored = versionsOf(currentSpec).find(({ storage }) => storage === true)?.['name'];
  if (typeof stored !== 'string') return undefined;
  return versionsOf(crd.spec).some(({ name }) => name === stored) ? undefined : stored;
}

function remainingVersions(current: Fields, crd: Crd): readonly string[] | undefined {
  const stored = fieldsOf(current['status'])['storedVersions'];
  if (!Array.isArray(stored)) return undefined;
  const names = new Set(versionsOf(crd.spec).map(({ name }) => name));
  const left = stored.filter((version): version is string => names.has(version));
  return left.length === stored.length ? undefined : left;
}

/**
 * Adds the defaults of the API server, which a file usually omits: without them every comparison
 * would differ.
 */
function withDefaults(spec: Fields): Fields {
  const names = fieldsOf(spec['names']);
  const kind = String(names['kind']);
  return {
    conversion: { strategy: 'None' },
    ...spec,
    names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
  };
}

/** The next step towards the CRD of the file. `body` is the object to write. */
type CrdStep =
  | { readonly type: 'keep' }
  | { readonly type: 'create'; readonly body: Fields }
  /** Writes only `status`; then the next step is decided. */
  | { readonly type: 'drop-stored-versions'; readonly body: Fields }
  | { readonly type: 'replace'; readonly body: Fields }
  /** The CRD cannot be changed; `reason` is for users. */
  | { readonly type: 'refuse'; readonly reason: string };

/**
 * Decides the next step for one CRD. `current` is the one in the cluster, undefined if there is
 * none.
 */
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
    // The API server refuses to remove a version that is listed as stored, so that list is changed
    // first.
  }
  if (storedVersions !== undefined) {
    const body = { ...current, status: { ...fieldsOf(current['status']), storedVersions } };
    return { type: 'drop-stored-versions', body };
  }
  return object === undefined ? { type: 'keep' } : { type: 'replace', body: object };
}
