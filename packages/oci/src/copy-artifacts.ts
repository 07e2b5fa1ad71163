import { readManifest, referrersTag } from './oci-manifest.ts';
import type { Descriptor, FetchedManifest, Repository, WritableRepository } from './repository.ts';

/** The parts of an artifact that were sent; the rest was there already. */
export interface CopiedArtifact {
  readonly digest: string;
  /** Blobs and manifests that were sent, those of signatures included. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Manifests that refer to the artifact: signatures, attestations and the like. */
  readonly referrers: number;
  /** Those of them that the destination does not list. */
  readonly missing: readonly string[];
}

/** Endings of the tags `sha256-HEX…` that older clients attach things with. */
const ATTACHED = ['.sig', '.att', '.sbom'];

/**
 * Copies artifacts with everything they consist of, and what refers to them: by the referrers API, by the tag of referrers, and
 * by the tags of older clients.
 */
export class ArtifactCopier {
  readonly #source: Repository;
  readonly #target: WritableRepository;
  readonly #signal: AbortSignal;
  readonly #done = new Set<string>();
  #sent = 0;
  #sentBytes = 0;

  constructor(source: Repository, target: WritableRepository, signal: AbortSignal) {
    this.#source = source;
    this.#target = target;
    this.#signal = signal;
  }

  /** @param reference the tag that it gets at the destination, or its digest */
  async copy(digest: string, reference: string): Promise<CopiedArtifact> {
    await this.#target.prepare();
    const [sent, sentBytes] = [this.#sent, this.#sentBytes];
    await this.#copyTree(digest, reference);
    const { referrers, missing } = await this.#copyReferrers(digest);
    return { digest, sent: this.#sent - sent, sentBytes: this.#sentBytes - sentBytes, referrers, missing };
  }

  /** Content first, so that a manifest at the destination is never without it. */
  async #copyTree(digest: string, reference: string): Promise<void> {
    if (this.#done.has(`${reference} ${digest}`)) return;
    const manifest = await this.#source.manifest(digest, this.#signal);
    const { blobs, manifests } = readManifest(manifest.bytes, this.#source.url);
    for (const child of manifests) await this.#copyTree(child.digest, child.digest);
    for (const blob of blobs) await this.#copyBlob(blob);
    await this.#pushManifest(manifest, reference);
    this.#done.add(`${reference} ${digest}`);
  }

  async #copyBlob(blob: Descriptor): Promise<void> {
    if (this.#done.has(blob.digest)) return;
    const open = (): AsyncIterable<Uint8Array> => this.#source.blob(blob, this.#signal);
    if (await this.#target.pushBlob({ ...blob, open }, this.#signal)) this.#count(blob.size);
    this.#done.add(blob.digest);
  }

  async #pushManifest(manifest: FetchedManifest, reference: string): Promise<void> {
    if (await this.#target.pushManifest(manifest, reference, this.#signal))
      this.#count(manifest.bytes.length);
  }

  async #copyReferrers(digest: string): Promise<Pick<CopiedArtifact, 'referrers' | 'missing'>> {
    const listed = await this.#source.referrers(digest, this.#signal);
    const missing: string[] = [];
    for (const referrer of listed) {
      await this.#copyTree(referrer.digest, referrer.digest);
      // A signature may have an attestation of its own.
      missing.push(...(await this.#copyReferrers(referrer.digest)).missing);
    }
    missing.push(...(await this.#missingAt(digest, listed)));
    let attached = 0;
    for (const ending of ATTACHED) {
      const tag = `${referrersTag(digest)}${ending}`;
      const found = await this.#source.resolve(tag, this.#signal);
      if (found === undefined) continue;
      attached += 1;
      await this.#copyTree(found.digest, tag);
    }
    return { referrers: listed.length + attached, missing };
  }

  async #missingAt(digest: string, listed: readonly Descriptor[]): Promise<readonly string[]> {
    if (listed.length === 0) return [];
    const there = new Set((await this.#target.referrers(digest, this.#signal)).map((one) => one.digest));
    return listed.flatMap((one) => (there.has(one.digest) ? [] : [one.digest]));
  }

  #count(bytes: number): void {
    this.#sent += 1;
    this.#sentBytes += bytes;
  }
}
