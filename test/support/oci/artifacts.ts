import { digestOf } from '@addon-operator/oci/digest';
import type {
  BlobContent,
  Descriptor,
  FetchedManifest,
  WritableRepository,
} from '@addon-operator/oci/repository';

const { signal } = new AbortController();
const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';

/** Content to push, and its descriptor. */
export function blobOf(bytes: Uint8Array, mediaType = 'application/octet-stream'): BlobContent {
  const open = async function* opened(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes);
  };
  return { mediaType, digest: digestOf(bytes), size: bytes.length, open };
}

function descriptorOf({ mediaType, digest, size, annotations }: Descriptor): Descriptor {
  return { mediaType, digest, size, ...(annotations && { annotations }) };
}

/** A manifest to push. */
export function manifestOf(
  config: Descriptor,
  layers: readonly Descriptor[],
  subject?: Descriptor,
): FetchedManifest {
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptorOf(config),
      layers: layers.map(descriptorOf),
      ...(subject && { subject: descriptorOf(subject) }),
    }),
  );
  return { descriptor: { mediaType: MANIFEST_TYPE, digest: digestOf(bytes), size: bytes.length }, bytes };
}

/**
 * Pushes an artifact with one layer.
 *
 * @param tag empty for a manifest without a name, as signatures are
 */
export async function pushArtifact(
  to: WritableRepository,
  tag: string,
  layer: Uint8Array,
  subject?: Descriptor,
): Promise<FetchedManifest> {
  const [config, content] = [blobOf(Buffer.from('{}'), 'application/vnd.example.config+json'), blobOf(layer)];
  for (const blob of [config, content]) await to.pushBlob(blob, signal);
  const manifest = manifestOf(config, [content], subject);
  await to.pushManifest(manifest, tag === '' ? manifest.descriptor.digest : tag, signal);
  return manifest;
}

/** All chunks of a blob. */
export async function contentOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
