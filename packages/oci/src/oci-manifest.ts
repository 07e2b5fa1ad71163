import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { digestOf, hexOf, isDigest } from './digest.ts';
import type { Descriptor, FetchedManifest } from './repository.ts';

export const MAX_MANIFEST_BYTES = 4 * 1_024 * 1_024;
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
export const INDEX_TYPES = [INDEX_TYPE, 'application/vnd.docker.distribution.manifest.list.v2+json'];
export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const MANIFEST_TYPES = [
  MANIFEST_TYPE,
  'application/vnd.docker.distribution.manifest.v2+json',
  ...INDEX_TYPES,
];

/** The fields of a manifest or an index. */
export interface ManifestContent {
  readonly mediaType: string | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly config: Descriptor | undefined;
  readonly layers: readonly Descriptor[];
  /** Config and layers. */
  readonly blobs: readonly Descriptor[];
  readonly manifests: readonly Descriptor[];
  readonly subject: Descriptor | undefined;
}

/** @param from for messages @throws OperatorError ARTIFACT_INVALID */
export function readManifest(bytes: Uint8Array, from: string): ManifestContent {
  const fields = parse(bytes, from);
  const { mediaType, artifactType, annotations } = fields;
  const [config, subject] = [fields['config'], fields['subject']].map((value) =>
    value === undefined || value === null ? undefined : toDescriptor(value, from),
  );
  const layers = descriptorsIn(fields['layers'], from);
  return {
    mediaType: stringOf(mediaType) || undefined,
    artifactType: stringOf(artifactType) || undefined,
    annotations: annotationsOf(annotations),
    config,
    layers,
    blobs: [...(config === undefined ? [] : [config]), ...layers],
    manifests: descriptorsIn(fields['manifests'], from),
    subject,
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
  const { artifactType: own, config, annotations } = readManifest(bytes, from);
  const artifactType = own ?? config?.mediaType;
  return {
    ...descriptor,
    ...(artifactType !== undefined && { artifactType }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** An index of these manifests, to be pushed. */
export function indexOf(manifests: readonly Descriptor[]): FetchedManifest {
  return manifestOf({ mediaType: INDEX_TYPE, manifests });
}

/** A manifest or an index with these fields, to be pushed. */
export function manifestOf(fields: {
  readonly mediaType: string;
  readonly [field: string]: unknown;
}): FetchedManifest {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, ...fields }));
  return { descriptor: { mediaType: fields.mediaType, digest: digestOf(bytes), size: bytes.length }, bytes };
}

function parse(bytes: Uint8Array, from: string): Readonly<Record<string, unknown>> {
  let cause: unknown;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (isObject(value)) return value;
  } catch (error) {
    cause = error;
  }
  throw new OperatorError('ARTIFACT_INVALID', `${from}: the manifest is not a JSON object`, { cause });
}

/** The descriptors of a list. @param from for messages @throws OperatorError ARTIFACT_INVALID */
export function descriptorsIn(value: unknown, from: string): readonly Descriptor[] {
  return Array.isArray(value) ? value.map((item) => toDescriptor(item, from)) : [];
}

function toDescriptor(value: unknown, from: string): Descriptor {
  const { mediaType = '', digest, size, artifactType, annotations, platform } = fieldsOf(value);
  const isWhole = typeof mediaType === 'string' && typeof digest === 'string' && Number.isSafeInteger(size);
  if (!isWhole || !isDigest(digest) || Number(size) < 0) {
    const problem = 'a descriptor in the manifest lacks mediaType, size or a sha256 digest';
    throw new OperatorError('ARTIFACT_INVALID', `${from}: ${problem}`);
  }
  const type = stringOf(artifactType);
  const { os, architecture } = fieldsOf(platform);
  const notes = annotationsOf(annotations);
  return {
    mediaType,
    digest,
    size: Number(size),
    ...(type !== '' && { artifactType: type }),
    ...(notes !== undefined && { annotations: notes }),
    ...(isObject(platform) && { platform: { os: stringOf(os), architecture: stringOf(architecture) } }),
  };
}

function annotationsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(fieldsOf(value)).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text] as const] : [],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
