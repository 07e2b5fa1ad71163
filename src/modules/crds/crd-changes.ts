import { canonicalJson, fieldsOf } from '@addon-operator/json';
import { CRD_API_VERSION, CRD_KIND, type Crd, versionsOf } from '@addon-operator/kube-client/crd';

type Fields = Readonly<Record<string, unknown>>;
type Labels = Readonly<Record<string, string>>;

/** What has to be done to a CRD in the cluster. */
interface CrdChange {
  /** `status.storedVersions` without the versions that vanished; undefined when none did. */
  readonly storedVersions: readonly string[] | undefined;
  /** The object to be written; undefined when the cluster has it so already. */
  readonly object: Fields | undefined;
  /** The version the cluster stores objects in, when the file has it no more: the API server refuses that. */
  readonly droppedStorage: string | undefined;
}

/** The object to create for a CRD that the cluster does not have. */
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
 * Compares a CRD of a module with the one in the cluster. The conversion of the one in the cluster stays: it belongs to
 * the operator that serves the webhook. So do labels and annotations that the file does not name.
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

/** What of a CRD decides whether it is written: its spec, labels and annotations, with what the API server fills in. */
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

/** What the API server fills in by itself. */
function withDefaults(spec: Fields): Fields {
  const names = fieldsOf(spec['names']);
  const kind = String(names['kind']);
  return {
    conversion: { strategy: 'None' },
    ...spec,
    names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
  };
}

/** What is done next so that the cluster has a CRD as its file says. `body` is the object to be written. */
type CrdStep =
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
