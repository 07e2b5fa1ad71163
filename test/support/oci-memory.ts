import { createHash } from 'node:crypto';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import type {
  BlobContent,
  Descriptor,
  FetchedManifest,
  WritableRepository,
} from '@addon-operator/oci/repository';

/** `sha256:` and the digest of the bytes. */
export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** A repository in memory. */
export class MemoryRepository implements WritableRepository {
  readonly url = 'oci://registry.example.com/platform/web';
  readonly blobs = new Map<string, Buffer>();
  readonly manifests = new Map<string, FetchedManifest>();
  readonly tagged = new Map<string, string>();
  /** Methods that were called, with what they were called for. */
  readonly calls: string[] = [];
  /** Bytes of each chunk of a blob. */
  chunkBytes = 7_777;

  /** Puts a blob, and returns its descriptor. */
  put(
    mediaType: string,
    content: Buffer | string,
    annotations?: Readonly<Record<string, string>>,
  ): Descriptor {
    const bytes = Buffer.from(content);
    const digest = digestOf(bytes);
    this.blobs.set(digest, bytes);
    return { mediaType, digest, size: bytes.length, ...(annotations && { annotations }) };
  }

  /** Puts a manifest under tags, and returns its descriptor. */
  putManifest(content: Readonly<Record<string, unknown>> | string, ...tags: readonly string[]): Descriptor {
    const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const mediaType = typeof content === 'string' ? undefined : content['mediaType'];
    const descriptor = {
      mediaType: typeof mediaType === 'string' ? mediaType : 'application/vnd.oci.image.manifest.v1+json',
      digest: digestOf(bytes),
      size: bytes.length,
    };
    this.manifests.set(descriptor.digest, { descriptor, bytes });
    for (const tag of tags) this.tagged.set(tag, descriptor.digest);
    return descriptor;
  }

  async resolve(reference: string): Promise<Descriptor | undefined> {
    this.calls.push(`resolve ${reference}`);
    const digest = this.tagged.get(reference) ?? reference;
    return await Promise.resolve(this.manifests.get(digest)?.descriptor);
  }

  async manifest(digest: string): Promise<FetchedManifest> {
    this.calls.push(`manifest ${digest}`);
    const manifest = this.manifests.get(digest);
    if (manifest === undefined) throw new OperatorError('REGISTRY_NOT_FOUND', `${this.url} has no ${digest}`);
    return await Promise.resolve(manifest);
  }

  async *blob({ digest }: Descriptor): AsyncGenerator<Uint8Array> {
    this.calls.push(`blob ${digest}`);
    const bytes = await Promise.resolve(this.blobs.get(digest));
    if (bytes === undefined) throw new OperatorError('REGISTRY_NOT_FOUND', `${this.url} has no ${digest}`);
    for (let at = 0; at < bytes.length; at += this.chunkBytes) yield bytes.subarray(at, at + this.chunkBytes);
    if (digestOf(bytes) !== digest) throw new OperatorError('ARTIFACT_INVALID', `${digest} has other bytes`);
  }

  async tags(): Promise<readonly string[]> {
    return await Promise.resolve([...this.tagged.keys()]);
  }

  async referrers(digest: string): Promise<readonly Descriptor[]> {
    this.calls.push(`referrers ${digest}`);
    const all = [...this.manifests.values()].filter(({ bytes }) => {
      const text = bytes.toString();
      return text.startsWith('{') && fieldsOf(fieldsOf(JSON.parse(text))['subject'])['digest'] === digest;
    });
    return await Promise.resolve(all.map(({ descriptor }) => descriptor));
  }

  async prepare(): Promise<void> {}

  async pushBlob(blob: BlobContent): Promise<boolean> {
    if (this.blobs.has(blob.digest)) return false;
    const chunks: Uint8Array[] = [];
    for await (const chunk of blob.open()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (digestOf(bytes) !== blob.digest || bytes.length !== blob.size)
      throw new Error('other bytes than its digest says');
    this.blobs.set(blob.digest, bytes);
    return true;
  }

  async pushManifest({ descriptor, bytes }: FetchedManifest, reference: string): Promise<boolean> {
    const isNew =
      !this.manifests.has(descriptor.digest) ||
      (reference !== descriptor.digest && this.tagged.get(reference) !== descriptor.digest);
    this.manifests.set(descriptor.digest, { descriptor, bytes });
    if (reference !== descriptor.digest) this.tagged.set(reference, descriptor.digest);
    return await Promise.resolve(isNew);
  }
}
