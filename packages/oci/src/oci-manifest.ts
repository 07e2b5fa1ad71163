import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { digestOf, hexOf, isDigest } from './digest.ts';
import type { Descriptor, FetchedManifest } from './repository.ts';

export const MAX_MANIFEST_BYTES = 4 * 1_024 * 1_024;
export const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const MANIFEST_TYPES = [
  MANIFEST_TYPE,
  INDEX_TYPE,
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

/** What a manifest or an index refers to. */
export interface ManifestContent {
  readonly mediaType: string | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** Config and layers. */
  readonly blobs: readonly Descriptor[];
  readonly manifests: readonly Descriptor[];
  readonly subject: Descriptor | undefined;
}

/** @param from for messages @throws OperatorError ARTIFACT_INVALID */
export function readManifest(bytes: Uint8Array, from: string): ManifestContent {
  const fields = fieldsOf(parse(bytes, from));
  const { mediaType, artifactType, annotations, subject } = fields;
  const config = fields['config'] === undefined ? undefined : toDescriptor(fields['config'], from);
  const layers = descriptorsIn(fields['layers'], from);
  return {
    mediaType: stringOf(mediaType),
    artifactType: stringOf(artifactType) ?? config?.mediaType,
    annotations: annotationsOf(annotations),
    blobs: [...(config === undefined ? [] : [config]), ...layers],
    manifests: descriptorsIn(fields['manifests'], from),
    subject: subject === undefined || subject === null ? undefined : toDescriptor(subject, from),
  };
}

/**
 * A manifest as it was received, compared with its digest.
 *
 * @param mediaType the registry's header, if there is one
 * @throws OperatorError ARTIFACT_INVALID
 */
export function checkedManifest(
  bytes: Uint8Array,
  digest: string | undefined,
  mediaType: string | undefined,
  from: string,
): FetchedManifest {
  const actual = digestOf(bytes);
  if (digest !== undefined && actual !== digest) {
    throw new OperatorError('ARTIFACT_INVALID', `${from}: the manifest ${digest} has the digest ${actual}`);
  }
  const named = mediaType?.split(';')[0]?.trim();
  const isNamed = named !== undefined && MANIFEST_TYPES.includes(named);
  const type = isNamed ? named : (readManifest(bytes, from).mediaType ?? MANIFEST_TYPE);
  return { descriptor: { mediaType: type, digest: actual, size: bytes.length }, bytes };
}

/** The tag of an index with the manifests whose subject a manifest is, where the registry has no referrers API. */
export function referrersTag(digest: string): string {
  return `sha256-${hexOf(digest)}`;
}

/** How an index lists a manifest that refers to a subject. */
export function referrerEntry({ descriptor, bytes }: FetchedManifest, from: string): Descriptor {
  const { artifactType, annotations } = readManifest(bytes, from);
  const { mediaType, digest, size } = descriptor;
  return {
    mediaType,
    digest,
    size,
    ...(artifactType !== undefined && { artifactType }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** An index of these manifests, to be pushed. */
export function indexOf(manifests: readonly Descriptor[]): FetchedManifest {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }));
  return { descriptor: { mediaType: INDEX_TYPE, digest: digestOf(bytes), size: bytes.length }, bytes };
}

function parse(bytes: Uint8Array, from: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch (cause) {
    throw new OperatorError('ARTIFACT_INVALID', `${from}: the manifest is not JSON`, { cause });
  }
}

function descriptorsIn(value: unknown, from: string): readonly Descriptor[] {
  return Array.isArray(value) ? value.map((item) => toDescriptor(item, from)) : [];
}

function toDescriptor(value: unknown, from: string): Descriptor {
  const { mediaType = '', digest, size, artifactType, annotations } = fieldsOf(value);
  const isWhole = typeof mediaType === 'string' && typeof digest === 'string' && Number.isSafeInteger(size);
  if (!isWhole || !isDigest(digest) || Number(size) < 0) {
    const problem = 'a descriptor in the manifest lacks mediaType, size or a sha256 digest';
    throw new OperatorError('ARTIFACT_INVALID', `${from}: ${problem}`);
  }
  const type = stringOf(artifactType);
  const notes = annotationsOf(annotations);
  return {
    mediaType,
    digest,
    size: Number(size),
    ...(type !== undefined && { artifactType: type }),
    ...(notes !== undefined && { annotations: notes }),
  };
}

function annotationsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(fieldsOf(value)).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text] as const] : [],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
