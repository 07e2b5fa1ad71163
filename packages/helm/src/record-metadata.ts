import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ManifestObject } from './manifest-object.ts';

/** Checksum of what was rendered; the label the original operator sets too. */
export const CHECKSUM_LABEL = 'moduleChecksum';
/** Says that the release was made by us. */
const OWNER_LABEL = 'addon-operator/owner';
/** Digest of everything that went into the rendering. */
export const DIGEST_LABEL = 'addon-operator/input-digest';
/** Which daemon process ran helm for this revision. */
export const HOLDER_LABEL = 'addon-operator/holder';
/** Which daemon process has helm uninstall the release. */
const UNINSTALLER_LABEL = 'addon-operator/uninstaller';
/** The revision our labels were written for: helm copies the labels of a release into every later revision. */
const REVISION_LABEL = 'addon-operator/revision';
/** Says of a revision that is marked failed that it, or one before it, was deployed. */
const DEPLOYED_LABEL = 'addon-operator/was-deployed';
/** Set to `true` while a module is unmanaged on its user's request. */
export const UNMANAGED_LABEL = 'maintenance.deckhouse.io/no-resource-reconciliation';

const OWNER = 'addon-operator';

type Labels = Readonly<Record<string, string>>;

/** The facts in our labels on a revision. Facts that a user's helm run has copied from an older revision are absent. */
interface OwnFacts {
  readonly checksum: string | undefined;
  readonly inputDigest: string | undefined;
  readonly holder: string | undefined;
  readonly uninstaller: string | undefined;
}

/** Reads our labels of a revision. */
export function ownFacts(labels: Labels, revision: number): OwnFacts {
  const own = isOurRevision(labels, revision) ? labels : {};
  return {
    checksum: own[CHECKSUM_LABEL],
    inputDigest: own[DIGEST_LABEL],
    holder: own[HOLDER_LABEL],
    uninstaller: own[UNINSTALLER_LABEL],
  };
}

/** Whether our labels were written for this revision, not carried over from an earlier one. */
export function isOurRevision(labels: Labels, revision: number): boolean {
  return labels[REVISION_LABEL] === String(revision);
}

/** Whether a revision is labelled as unmanaged, so that it is skipped as long as its module is unmanaged. */
export function saysUnmanaged(labels: Labels, revision: number): boolean {
  return isOurRevision(labels, revision) && labels[UNMANAGED_LABEL] === 'true';
}

/** Whether the release was made by us, or by the original operator. */
export function isOwned(labels: Labels): boolean {
  return labels[OWNER_LABEL] === OWNER || labels[CHECKSUM_LABEL] !== undefined;
}

/**
 * Labels a revision gets before helm starts on it. The checksum is known only after rendering, so an old one is
 * taken away (`null` unsets a label in helm); when helm installs there is none to take away.
 */
export function labelsAtStart(facts: {
  readonly revision: number;
  readonly inputDigest: string;
  readonly holder: string;
  readonly isUnmanaged: boolean;
  readonly isInstalled: boolean;
}): Labels {
  const labels = {
    [OWNER_LABEL]: OWNER,
    [DIGEST_LABEL]: facts.inputDigest,
    [HOLDER_LABEL]: facts.holder,
    [REVISION_LABEL]: String(facts.revision),
    [UNMANAGED_LABEL]: String(facts.isUnmanaged),
  };
  return facts.isInstalled ? labels : { ...labels, [CHECKSUM_LABEL]: 'null', [UNINSTALLER_LABEL]: 'null' };
}

/** Labels of a revision that is marked failed: an install that was left unfinished has never been deployed. */
export function labelsWhenMarkedFailed(status: string): Labels {
  return status === 'pending-install' ? {} : { [DEPLOYED_LABEL]: 'true' };
}

/** Whether a revision, or one before it, was deployed, although its status is another one. */
export function saysDeployed(labels: Labels): boolean {
  return labels[DEPLOYED_LABEL] === 'true';
}

/** Labels of a revision before helm removes it. */
export function labelsAtUninstall(holder: string): Labels {
  return { [UNINSTALLER_LABEL]: holder };
}

/** Labels a revision has once its rendering is known to be in the cluster. */
export function labelsWhenDeployed(facts: {
  readonly revision: number;
  readonly inputDigest: string;
  readonly checksum: string;
}): Labels {
  return {
    [OWNER_LABEL]: OWNER,
    [DIGEST_LABEL]: facts.inputDigest,
    [REVISION_LABEL]: String(facts.revision),
    [CHECKSUM_LABEL]: facts.checksum,
  };
}

/** Says that the release stays when its module is gone. */
const KEEP_LABEL = 'addon-operator/keep';
const KEEP = 'true';

/** Whether only a user may remove the release. */
export function isKept(labels: Labels): boolean {
  return labels[KEEP_LABEL] === KEEP;
}

/** The merge patch for the record of a release that is to be kept, or is no longer to be kept. */
export function labelsWhenKept(isKept: boolean): Readonly<Record<string, string | null>> {
  return { [KEEP_LABEL]: isKept ? KEEP : null };
}

/** Merge patch for the record of a release that this operator does not own any more. */
export const LABELS_WHEN_DISOWNED: Readonly<Record<string, string | null>> = {
  ...labelsWhenKept(true),
  [OWNER_LABEL]: null,
  [DIGEST_LABEL]: null,
  [REVISION_LABEL]: null,
  [CHECKSUM_LABEL]: null,
};

/** `md5` in hex of rendered text: short enough for a label, and what the original operator writes. */
export function renderedChecksum(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** Annotation of a release record with the objects of the revision, so that the record need not be unpacked. */
export const OBJECTS_ANNOTATION = 'addon-operator/objects';
/** Note of the caller of a deployment on the record, in addition to the values of the deployment. */
export const NOTE_ANNOTATION = 'addon-operator/note';
/** All annotations of an object together may have 256 KiB. */
const MAX_BYTES = 64 * 1024;

/** The text of the annotation; undefined when it would be too long. */
export function formatObjects(objects: readonly ManifestObject[]): string | undefined {
  const rows = objects.map(({ apiVersion, kind, namespace, name }) => [apiVersion, kind, namespace, name]);
  const text = JSON.stringify(rows);
  return Buffer.byteLength(text) <= MAX_BYTES ? text : undefined;
}

/** The objects in the annotation; undefined when there is none, or it was not written by this operator. */
export function parseObjectList(text: unknown): readonly ManifestObject[] | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows.map(objectOf) : undefined;
  } catch {
    return undefined;
  }
}

function objectOf(row: unknown): ManifestObject {
  if (!Array.isArray(row) || !row.every((part) => typeof part === 'string'))
    throw new TypeError('not a list of strings');
  const [apiVersion = '', kind = '', namespace = '', name = ''] = row;
  return { apiVersion, kind, namespace, name };
}

/** The metadata of a record once its rendering is known to be in the cluster. */
export function metadataWhenDeployed(
  facts: Parameters<typeof labelsWhenDeployed>[0],
  objects: readonly ManifestObject[],
  note?: string,
): {
  readonly labels: ReturnType<typeof labelsWhenDeployed>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const text = formatObjects(objects);
  return {
    labels: labelsWhenDeployed(facts),
    annotations: {
      ...(text !== undefined && { [OBJECTS_ANNOTATION]: text }),
      ...(note !== undefined && Buffer.byteLength(note) <= MAX_BYTES && { [NOTE_ANNOTATION]: note }),
    },
  };
}
