import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { BlobDownload } from './blob-download.ts';
import { hexOf, isDigest } from './digest.ts';
import {
  checkedManifest,
  descriptorsIn,
  indexOf,
  MANIFEST_TYPES,
  MAX_MANIFEST_BYTES,
  readManifest,
  referrerEntry,
  referrersTag,
} from './oci-manifest.ts';
import type { RegistryResponse } from './registry-connections.ts';
import type { EndpointRequest, RegistryEndpoint } from './registry-endpoint.ts';
import type { BlobContent, Descriptor, FetchedManifest, WritableRepository } from './repository.ts';
import { isTag, requireReference } from './repository-url.ts';
import { nextPage } from './response-headers.ts';
import { isCut } from './response-status.ts';

export interface RegistryRepositoryParts {
  readonly clock: SteadyClock;
  readonly registry: RegistryEndpoint;
  /** Asked first, in this order, for content by digest. */
  readonly mirrors: readonly RegistryEndpoint[];
  /** A mirror could not serve something; the next one, or the registry, is asked. */
  readonly onMirrorFailure: (mirror: string, error: unknown) => void;
}

const ACCEPT = { Accept: MANIFEST_TYPES.join(', ') };
const MAX_PAGE_BYTES = 4 * 1_024 * 1_024;
const MAX_PAGES = 200;
const MAX_TAGS = 100_000;
/** How registries without a referrers API respond to it. */
const NO_REFERRERS = [400, 404, 405, 501];
const MAX_UPLOADS = 3;

/** A repository of a registry, by the OCI distribution API. */
export class RegistryRepository implements WritableRepository {
  readonly #parts: RegistryRepositoryParts;
  readonly #registry: RegistryEndpoint;
  /** Mirrors that served other bytes: they are not asked again. */
  readonly #distrusted = new Set<string>();

  constructor(parts: RegistryRepositoryParts) {
    this.#parts = parts;
    this.#registry = parts.registry;
  }

  get url(): string {
    return this.#registry.url;
  }

  async resolve(reference: string, signal: AbortSignal): Promise<Descriptor | undefined> {
    requireReference(reference);
    const path = `manifests/${reference}`;
    const expect = [200, 404, 405, 501];
    const response = await this.#registry.send({ method: 'HEAD', path, headers: ACCEPT, expect }, signal);
    await response.discard();
    if (response.status === 404) return undefined;
    const digest = response.header('docker-content-digest') ?? '';
    const mediaType = response.header('content-type')?.split(';')[0]?.trim() ?? '';
    const size = Number(response.headers['content-length']);
    if (response.status === 200 && isDigest(digest) && mediaType !== '' && Number.isSafeInteger(size)) {
      if (!isDigest(reference) || digest === reference) return { mediaType, digest, size };
    }
    return (await this.#getManifest(this.#registry, reference, signal))?.descriptor;
  }

  async manifest(digest: string, signal: AbortSignal): Promise<FetchedManifest> {
    hexOf(digest);
    for (const mirror of this.#trustedMirrors()) {
      try {
        return await this.#manifestAt(mirror, digest, signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#onMirrorFailure(mirror.url, error);
      }
    }
    return await this.#manifestAt(this.#registry, digest, signal);
  }

  blob(descriptor: Descriptor, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { clock, registry } = this.#parts;
    const mirrors = this.#trustedMirrors();
    const onMirrorFailure = (mirror: string, error: unknown): void => this.#onMirrorFailure(mirror, error);
    return new BlobDownload(descriptor, { clock, registry, mirrors, onMirrorFailure }).chunks(signal);
  }

  async tags(signal: AbortSignal): Promise<readonly string[]> {
    const pages = await this.#pages('tags/list', 'tags', [200], signal);
    return (pages ?? []).filter((tag): tag is string => typeof tag === 'string' && isTag(tag));
  }

  async referrers(digest: string, signal: AbortSignal): Promise<readonly Descriptor[]> {
    hexOf(digest);
    const listed = await this.#pages(`referrers/${digest}`, 'manifests', [200, ...NO_REFERRERS], signal);
    if (listed !== undefined) return descriptorsIn(listed, this.url);
    const index = await this.#getManifest(this.#registry, referrersTag(digest), signal);
    return index === undefined ? [] : readManifest(index.bytes, this.url).manifests;
  }

  /** Registries create repositories with the first push. */
  async prepare(): Promise<void> {}

  async pushBlob(blob: BlobContent, signal: AbortSignal): Promise<boolean> {
    const path = `blobs/${blob.digest}`;
    const known = await this.#push({ method: 'HEAD', path, expect: [200, 404] }, signal);
    await known.discard();
    if (known.status === 200) return false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#upload(blob, signal);
        return true;
      } catch (error) {
        if (signal.aborted || !isCut(error) || attempt === MAX_UPLOADS) throw error;
      }
    }
  }

  async pushManifest(manifest: FetchedManifest, reference: string, signal: AbortSignal): Promise<boolean> {
    const { descriptor, bytes } = manifest;
    const { subject } = readManifest(bytes, this.url);
    const known = await this.resolve(reference, signal);
    const isNew = known?.digest !== descriptor.digest;
    const hasIndex = isNew ? await this.#put(manifest, reference, signal) : false;
    if (subject === undefined || hasIndex) return isNew;
    // A push that was ended before this is completed by the next one.
    const listed = isNew ? [] : await this.referrers(subject.digest, signal);
    if (!listed.some(({ digest }) => digest === descriptor.digest)) {
      await this.#addReferrer(subject.digest, manifest, signal);
    }
    return isNew;
  }

  /** @returns whether the registry lists the manifest among the referrers of its subject by itself */
  async #put(
    { descriptor, bytes }: FetchedManifest,
    reference: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const headers = { 'Content-Type': descriptor.mediaType, 'Content-Length': String(bytes.length) };
    const path = `manifests/${reference}`;
    const response = await this.#push(
      { method: 'PUT', path, headers, body: bytes, expect: [200, 201] },
      signal,
    );
    await response.discard();
    return response.header('oci-subject') !== undefined;
  }

  async #manifestAt(
    endpoint: RegistryEndpoint,
    digest: string,
    signal: AbortSignal,
  ): Promise<FetchedManifest> {
    const found = await this.#getManifest(endpoint, digest, signal);
    if (found !== undefined) return found;
    throw new OperatorError('REGISTRY_NOT_FOUND', `${endpoint.url}: there is no manifest ${digest}`);
  }

  #trustedMirrors(): readonly RegistryEndpoint[] {
    return this.#parts.mirrors.filter(({ url }) => !this.#distrusted.has(url));
  }

  #onMirrorFailure(mirror: string, error: unknown): void {
    if (hasCode(error, 'ARTIFACT_INVALID')) this.#distrusted.add(mirror);
    this.#parts.onMirrorFailure(mirror, error);
  }

  /** Maintains the index that clients read where the registry has no referrers API. */
  async #addReferrer(subject: string, manifest: FetchedManifest, signal: AbortSignal): Promise<void> {
    const tag = referrersTag(subject);
    const index = await this.#getManifest(this.#registry, tag, signal);
    const listed = index === undefined ? [] : readManifest(index.bytes, this.url).manifests;
    if (listed.some(({ digest }) => digest === manifest.descriptor.digest)) return;
    await this.pushManifest(indexOf([...listed, referrerEntry(manifest, this.url)]), tag, signal);
  }

  /** @throws OperatorError ARTIFACT_INVALID for a manifest above 4 MiB, without reading it whole */
  async #getManifest(
    endpoint: RegistryEndpoint,
    reference: string,
    signal: AbortSignal,
  ): Promise<FetchedManifest | undefined> {
    const path = `manifests/${reference}`;
    const response = await endpoint.send(
      { method: 'GET', path, headers: ACCEPT, expect: [200, 404] },
      signal,
    );
    if (response.status === 404) {
      await response.discard();
      return undefined;
    }
    const bytes = await response.bytes(MAX_MANIFEST_BYTES);
    const digest = isDigest(reference) ? reference : undefined;
    return checkedManifest(bytes, digest, response.header('content-type'), endpoint.url);
  }

  /** The items of all pages; undefined where the registry has no such list. */
  async #pages(
    path: string,
    field: string,
    expect: readonly number[],
    signal: AbortSignal,
  ): Promise<readonly unknown[] | undefined> {
    const items: unknown[] = [];
    let page: string | URL = path;
    for (let pages = 0; pages < MAX_PAGES && items.length <= MAX_TAGS; pages += 1) {
      const response: RegistryResponse = await this.#registry.send(
        { method: 'GET', path: page, expect },
        signal,
      );
      const body = await response.json(MAX_PAGE_BYTES);
      if (response.status !== 200) return undefined;
      const list = fieldsOf(body)[field];
      // Some registries respond to paths that they do not know with a page for people.
      if (list === undefined && expect.includes(404)) return undefined;
      if (list !== null && !Array.isArray(list)) {
        throw new OperatorError(
          'REGISTRY_UNREACHABLE',
          `${this.url}: the response to ${path} has no ${field}`,
        );
      }
      items.push(...(list ?? []));
      const next = nextPage(response.header('link'), response.url);
      if (next === undefined) return items;
      if (next.host !== response.url.host) {
        throw new OperatorError(
          'ARTIFACT_INVALID',
          `${this.url}: ${path} continues at another host, ${next.host}`,
        );
      }
      page = next;
    }
    const problem = `${path} has more than ${MAX_PAGES} pages or ${MAX_TAGS} entries`;
    throw new OperatorError('ARTIFACT_INVALID', `${this.url}: ${problem}`);
  }

  async #upload(blob: BlobContent, signal: AbortSignal): Promise<void> {
    const begun = await this.#push({ method: 'POST', path: 'blobs/uploads/', expect: [202] }, signal);
    await begun.discard();
    const location = begun.header('location') ?? '';
    if (!URL.canParse(location, begun.url.href)) {
      throw new OperatorError(
        'REGISTRY_UNREACHABLE',
        `${this.url}: the registry does not say where to upload to`,
      );
    }
    const path = new URL(location, begun.url);
    path.searchParams.set('digest', blob.digest);
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': String(blob.size) };
    const body = (): AsyncIterable<Uint8Array> => blob.open();
    const done = await this.#push({ method: 'PUT', path, headers, body, expect: [201] }, signal);
    await done.discard();
  }

  async #push(request: EndpointRequest, signal: AbortSignal): Promise<RegistryResponse> {
    return await this.#registry.send({ ...request, actions: 'pull,push' }, signal);
  }
}
