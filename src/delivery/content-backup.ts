/**
 * Small modules in Secrets, so that a new node starts them while the registry is away. What is kept are the manifest and
 * the blobs as they were pulled: a backup is read as a repository is.
 */

import { OperatorError } from '@addon-operator/base/errors';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { digestOf, hexOf } from '@addon-operator/oci/digest';
import { readManifest } from '@addon-operator/oci/oci-manifest';
import type { Descriptor, FetchedManifest, Repository } from '@addon-operator/oci/repository';
import { readBlob } from '../artifacts/blobs.ts';
import { type SecretData, SecretStore } from './secrets.ts';

const CONTENT_LABEL = 'addon-operator.io/module-content';
/** Of manifest and blobs together, as they are in the registry. A Secret may have 1 MiB. */
export const MAX_BACKUP_BYTES = 900 * 1_024;
const MANIFEST = 'manifest';
/** Of the digest, in the name of a Secret. */
const DIGITS = 12;

/** Keeps content besides the store; keeps nothing with `--module-backup=none`. */
export interface ContentBackup {
  /** Keeps a manifest with its blobs, once. Does nothing if they are too large. */
  save(repository: Repository, digest: string, signal: AbortSignal): Promise<void>;
  /** A repository with this content alone; undefined if it was not kept. */
  open(digest: string, signal: AbortSignal): Promise<Repository | undefined>;
  /** Removes what is not in `keep`. */
  collect(keep: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
}

/** Backups in Secrets of the namespace of the operator. Methods throw OperatorError of the registry and of the API server. */
export class SecretBackup implements ContentBackup {
  readonly #secrets: SecretStore;
  readonly #prefix: string;
  /** Digests that were saved, or are too large. */
  readonly #done = new Set<string>();

  /** @param prefix of the names of the Secrets */
  constructor(kube: KubeClient, namespace: string, prefix: string) {
    this.#secrets = new SecretStore(kube, namespace, CONTENT_LABEL);
    this.#prefix = prefix;
  }

  async save(repository: Repository, digest: string, signal: AbortSignal): Promise<void> {
    if (this.#done.has(digest)) return;
    if ((await this.#secrets.read(this.#nameOf(digest), signal)) === undefined) {
      const { descriptor, bytes } = await repository.manifest(digest, signal);
      const { blobs } = readManifest(bytes, `${repository.url}@${digest}`);
      const sizes = blobs.map(({ size }) => size);
      // An index has no blobs of its own.
      if (blobs.length > 0 && sizes.reduce((sum, size) => sum + size, bytes.length) <= MAX_BACKUP_BYTES) {
        const data: Record<string, Uint8Array> = {
          [MANIFEST]: bytes,
          type: Buffer.from(descriptor.mediaType),
          digest: Buffer.from(digest),
        };
        for (const blob of blobs)
          data[hexOf(blob.digest)] = await readBlob(repository, blob, MAX_BACKUP_BYTES, signal);
        await this.#secrets.write(this.#nameOf(digest), data, signal);
      }
    }
    this.#done.add(digest);
  }

  async open(digest: string, signal: AbortSignal): Promise<Repository | undefined> {
    const data = await this.#secrets.read(this.#nameOf(digest), signal);
    if (data?.[MANIFEST] === undefined || Buffer.from(data['digest'] ?? '').toString() !== digest)
      return undefined;
    return new BackupRepository(`backup in Secret ${this.#nameOf(digest)}`, digest, data);
  }

  async collect(keep: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const kept = new Set([...keep].map((digest) => this.#nameOf(digest)));
    // Another operator of the namespace has backups of its own.
    for (const name of (await this.#secrets.list(signal)).keys())
      if (name.startsWith(`${this.#prefix}-content-`) && !kept.has(name))
        await this.#secrets.remove(name, signal);
    for (const digest of this.#done) if (!keep.has(digest)) this.#done.delete(digest);
  }

  #nameOf(digest: string): string {
    return `${this.#prefix}-content-${hexOf(digest).slice(0, DIGITS)}`;
  }
}

/** Reads from a backup, and compares all of it with its digests. */
class BackupRepository implements Repository {
  readonly url: string;
  readonly #manifest: FetchedManifest;
  readonly #data: SecretData;

  constructor(url: string, digest: string, data: SecretData) {
    this.url = url;
    this.#data = data;
    const bytes = data[MANIFEST] ?? new Uint8Array();
    const mediaType = Buffer.from(data['type'] ?? '').toString();
    this.#manifest = { descriptor: { mediaType, digest, size: bytes.length }, bytes };
  }

  async resolve(reference: string): Promise<Descriptor | undefined> {
    const { descriptor } = this.#manifest;
    return await Promise.resolve(reference === descriptor.digest ? descriptor : undefined);
  }

  async manifest(digest: string): Promise<FetchedManifest> {
    if (digest !== this.#manifest.descriptor.digest) throw this.#lacks(digest);
    this.#check(digest, this.#manifest.bytes);
    return await Promise.resolve(this.#manifest);
  }

  async *blob({ digest }: Descriptor): AsyncIterable<Uint8Array> {
    const bytes = this.#data[hexOf(digest)];
    if (bytes === undefined) throw this.#lacks(digest);
    this.#check(digest, bytes);
    yield await Promise.resolve(bytes);
  }

  async tags(): Promise<readonly string[]> {
    return await Promise.resolve([]);
  }

  async referrers(): Promise<readonly Descriptor[]> {
    return await Promise.resolve([]);
  }

  #check(digest: string, bytes: Uint8Array): void {
    if (digestOf(bytes) === digest) return;
    throw new OperatorError(
      'ARTIFACT_INVALID',
      `${this.url} has other bytes than ${digest}: delete the Secret`,
    );
  }

  #lacks(digest: string): OperatorError {
    return new OperatorError('REGISTRY_NOT_FOUND', `${this.url} does not have ${digest}`);
  }
}
