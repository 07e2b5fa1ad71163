import { Buffer } from 'node:buffer';
import type { ManifestObject } from './manifest-object.ts';
import { labelsWhenDeployed } from './release-labels.ts';

/** Tells, on a release record, which objects the revision consists of, so that nobody has to unpack the record. */
export const OBJECTS_ANNOTATION = 'addon-operator/objects';
/** What the caller of a deployment has noted on the record, beside the values that it was given. */
export const NOTE_ANNOTATION = 'addon-operator/note';
/** All annotations of an object together may have 256 KiB. */
const MAX_BYTES = 64 * 1024;

/** The text of the annotation; undefined when it would be too long. */
export function formatObjects(objects: readonly ManifestObject[]): string | undefined {
  const rows = objects.map(({ apiVersion, kind, namespace, name }) => [apiVersion, kind, namespace, name]);
  const text = JSON.stringify(rows);
  return Buffer.byteLength(text) <= MAX_BYTES ? text : undefined;
}

/** What the annotation names; undefined when there is none, or it is no text of ours. */
export function parseObjects(text: unknown): readonly ManifestObject[] | undefined {
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

/** What the record of a revision gets once its rendering is known to be in the cluster. */
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
