import { canonicalJson, fieldsOf } from '@addon-operator/json';
import { CRD_API_VERSION, CRD_KIND, type Crd, versionsOf } from '@addon-operator/kube-client/crd';
import gt from 'semver/functions/gt.js';
import validVersion from 'semver/functions/valid.js';
import { crdLosses } from './crd-losses.ts';

type Fields = Readonly<Record<string, unknown>>;
type Labels = Readonly<Record<string, string>>;

/** The module that a CRD comes from. */
export interface CrdOrigin {
  readonly module: string;
  /** Undefined without a semantic version: nothing is older or newer then. */
  readonly version: string | undefined;
}

/** The newest version of a module that has applied the CRD, such as `web 1.1.0`. In the cluster it outlives the process. */
const APPLIED_FROM = 'addon-operator.io/applied-from';

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
export function newCrd(crd: Crd, extraLabels: Labels, origin: CrdOrigin): Fields {
  const { name, labels, annotations, spec } = crd;
  return {
    apiVersion: CRD_API_VERSION,
    kind: CRD_KIND,
    metadata: {
      name,
      labels: { ...labels, ...extraLabels },
      annotations: { ...annotations, ...originNote(origin) },
    },
    spec,
  };
}

/**
 * Compares a CRD of a module with the one in the cluster. The cluster's `conversion` stays, because
 * it belongs to the operator that serves the webhook; so do labels and annotations that the file
 * does not set.
 */
export function changeOfCrd(current: Fields, crd: Crd, extraLabels: Labels, origin: CrdOrigin): CrdChange {
  const metadata = fieldsOf(current['metadata']);
  const labels = { ...fieldsOf(metadata['labels']), ...crd.labels, ...extraLabels };
  const currentSpec = fieldsOf(current['spec']);
  const { conversion } = currentSpec;
  const spec = { ...crd.spec, ...(conversion === undefined ? {} : { conversion }) };
  const isSameSpec = canonicalJson(withDefaults(spec)) === canonicalJson(withDefaults(currentSpec));
  const annotations = {
    ...fieldsOf(metadata['annotations']),
    ...crd.annotations,
    ...(isNoted(current, origin, isSameSpec) ? {} : originNote(origin)),
  };
  const object = { ...current, metadata: { ...metadata, labels, annotations }, spec };
  const isSame = canonicalJson(comparableCrd(object)) === canonicalJson(comparableCrd(current));
  return {
    storedVersions: remainingVersions(current, crd),
    object: isSame ? undefined : object,
    droppedStorage: droppedStorage(currentSpec, crd),
  };
}

function originNote({ module, version }: CrdOrigin): Labels {
  return version === undefined ? {} : { [APPLIED_FROM]: `${module} ${version}` };
}

function notedOrigin(current: Fields): CrdOrigin | undefined {
  const note = fieldsOf(fieldsOf(current['metadata'])['annotations'])[APPLIED_FROM];
  const [module = '', version = ''] = typeof note === 'string' ? note.split(' ') : [];
  return validVersion(version) === null ? undefined : { module, version };
}

/** Whether the note about the origin stays. Modules that bring the same CRD do not replace the notes of each other. */
function isNoted(current: Fields, origin: CrdOrigin, isSameSpec: boolean): boolean {
  const noted = notedOrigin(current);
  if (noted?.module !== origin.module) return noted !== undefined && isSameSpec;
  return newerVersion(noted, origin) !== undefined;
}

/** The version of the first one if it is a newer version of the same module. */
function newerVersion(noted: CrdOrigin | undefined, { module, version }: CrdOrigin): string | undefined {
  if (noted?.version === undefined || version === undefined || noted.module !== module) return undefined;
  return gt(noted.version, version) ? noted.version : undefined;
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
  /** `kept` is for users: why it differs from the file; undefined if it does not. */
  | { readonly type: 'keep'; readonly kept?: string }
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
  extraLabels: Labels,
  origin: CrdOrigin,
): CrdStep {
  if (current === undefined) return { type: 'create', body: newCrd(crd, extraLabels, origin) };
  if (fieldsOf(current['metadata'])['deletionTimestamp'] !== undefined)
    return { type: 'refuse', reason: 'it is being deleted; it is created again after that' };
  const older = stepOfOlder(current, crd, origin);
  if (older !== undefined) return older;
  const { storedVersions, droppedStorage, object } = changeOfCrd(current, crd, extraLabels, origin);
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

/**
 * A CRD never goes back: what a newer version of the module has applied is kept where the file of an older one would take
 * something away. Undefined where the file decides.
 */
function stepOfOlder(current: Fields, crd: Crd, origin: CrdOrigin): CrdStep | undefined {
  const newer = newerVersion(notedOrigin(current), origin);
  const currentSpec = fieldsOf(current['spec']);
  const losses = newer === undefined ? [] : crdLosses(currentSpec, crd.spec);
  if (losses.length === 0) return undefined;
  const kept = `it stays as version ${newer} of the module has applied it`;
  const [served, wanted] = [servedVersions(currentSpec), servedVersions(crd.spec)];
  if (wanted.some((version) => served.includes(version)))
    return { type: 'keep', kept: `${kept}: that of ${origin.version} lacks ${shortList(losses)}` };
  return {
    type: 'refuse',
    reason: `${kept}, and serves ${served.join(', ')}, but version ${origin.version} has ${wanted.join(', ')}; to fix: run a version that has ${served.join(' or ')}`,
  };
}

function servedVersions(spec: Fields): readonly string[] {
  return versionsOf(spec)
    .filter(({ served }) => served === true)
    .map(({ name }) => String(name));
}

const SHOWN_LOSSES = 5;

function shortList(losses: readonly string[]): string {
  const shown = losses.slice(0, SHOWN_LOSSES).join(', ');
  return losses.length > SHOWN_LOSSES ? `${shown} and ${losses.length - SHOWN_LOSSES} more` : shown;
}
