// A repository in a directory, as the OCI image layout specification describes it: `oci-layout`, `index.json` with tags as
// annotations, and blobs by digest. crane, oras and skopeo read and write the same.

import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { ContentCheck, hexOf, isDigest } from './digest.ts';
import {
  checkedManifest,
  indexOf,
  MAX_MANIFEST_BYTES,
  readManifest,
  referrerEntry,
  referrersTag,
} from './oci-manifest.ts';
import type { BlobContent, Descriptor, FetchedManifest, WritableRepository } from './repository.ts';
import { isTag, requireReference } from './repository-url.ts';

const REF_NAME = 'org.opencontainers.image.ref.name';
const LAYOUT = '{"imageLayoutVersion":"1.0.0"}';
/** What a push that was interrupted leaves. */
const PARTS = new Set(['blobs', 'oci-layout']);
/** Of some ten thousand tags. */
const MAX_INDEX_BYTES = 16 * 1_024 * 1_024;

/** An OCI image layout as a repository. It has one writer at a time. */
export class LayoutRepository implements WritableRepository {
  readonly url: string;
  readonly #directory: string;
  /** Changes of the index, one after the other. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
    this.url = pathToFileURL(directory).href.replace('file:', 'oci-layout:');
  }

  async resolve(reference: string, signal: AbortSignal): Promise<Descriptor | undefined> {
    requireReference(reference);
    const entries = await this.#entries();
    const entry = entries.find((one) => tagOf(one) === reference || one.digest === reference);
    if (entry !== undefined) return withoutTag(entry);
    if (!isDigest(reference) || !existsSync(this.#blobFile(reference))) return undefined;
    return (await this.manifest(reference, signal)).descriptor;
  }

  async manifest(digest: string, signal: AbortSignal): Promise<FetchedManifest> {
    signal.throwIfAborted();
    const bytes = await this.#read(this.#blobFile(digest), MAX_MANIFEST_BYTES);
    if (bytes === undefined) throw this.#missing(`manifest ${digest}`);
    return checkedManifest(bytes, digest, undefined, this.url);
  }

  async *blob(descriptor: Descriptor, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const check = new ContentCheck(descriptor);
    try {
      for await (const chunk of createReadStream(this.#blobFile(descriptor.digest), { signal })) {
        check.add(chunk, this.url);
        yield chunk;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isMissingFile(error)) throw this.#missing(`blob ${descriptor.digest}`);
      throw error;
    }
    check.finish(this.url);
  }

  async tags(): Promise<readonly string[]> {
    const tags = (await this.#entries()).map((entry) => tagOf(entry) ?? '');
    return tags.filter((tag) => isTag(tag));
  }

  async referrers(digest: string, signal: AbortSignal): Promise<readonly Descriptor[]> {
    const tag = referrersTag(digest);
    const found = new Map<string, Descriptor>();
    for (const entry of await this.#entries()) {
      const manifest = await this.manifest(entry.digest, signal);
      const { subject, manifests } = readManifest(manifest.bytes, this.url);
      if (subject?.digest === digest) found.set(entry.digest, referrerEntry(manifest, this.url));
      if (tagOf(entry) === tag) for (const one of manifests) found.set(one.digest, one);
    }
    return [...found.values()];
  }

  async prepare(): Promise<void> {
    if (existsSync(join(this.#directory, 'index.json'))) return;
    const others = (await namesIn(this.#directory)).filter((name) => !PARTS.has(name));
    if (others.length > 0)
      throw new OperatorError(
        'REQUEST_REFUSED',
        `${this.url} is not an OCI image layout, and has other files, such as ${others[0]}; to fix: name a new or an empty directory`,
      );
    await this.#writeIndex([]);
  }

  async pushBlob(blob: BlobContent, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const file = this.#blobFile(blob.digest);
    if (existsSync(file)) return false;
    const check = new ContentCheck(blob);
    await this.#write(file, async function* checked() {
      for await (const chunk of blob.open()) {
        signal.throwIfAborted();
        check.add(chunk, 'what is pushed');
        yield chunk;
      }
      check.finish('what is pushed');
    });
    return true;
  }

  async pushManifest(
    { descriptor, bytes }: FetchedManifest,
    reference: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    requireReference(reference);
    const isSent = await this.pushBlob({ ...descriptor, open: () => once(bytes) }, signal);
    const isNamed = await this.#changeIndex((entries) => withTag(entries, descriptor, reference));
    return isSent || isNamed;
  }

  /** @returns whether there was a change */
  async #changeIndex(change: (entries: readonly Descriptor[]) => readonly Descriptor[]): Promise<boolean> {
    const changed = this.#lastChange.then(async () => {
      const before = await this.#entries(true);
      const after = change(before);
      if (JSON.stringify(before) === JSON.stringify(after)) return false;
      await this.#writeIndex(after);
      return true;
    });
    this.#lastChange = changed.catch(() => undefined);
    return await changed;
  }

  async #writeIndex(entries: readonly Descriptor[]): Promise<void> {
    await this.#write(join(this.#directory, 'oci-layout'), () => once(Buffer.from(LAYOUT)));
    await this.#write(join(this.#directory, 'index.json'), () => once(indexOf(entries).bytes));
  }

  /** @param mayBeMissing as before the first push */
  async #entries(mayBeMissing = false): Promise<readonly Descriptor[]> {
    const bytes = await this.#read(join(this.#directory, 'index.json'), MAX_INDEX_BYTES);
    if (bytes !== undefined) return readManifest(bytes, `${this.url}/index.json`).manifests;
    if (mayBeMissing) return [];
    throw this.#missing('index.json: it is not an OCI image layout');
  }

  #missing(what: string): OperatorError {
    return new OperatorError('REGISTRY_NOT_FOUND', `${this.url}: there is no ${what}`);
  }

  #blobFile(digest: string): string {
    return join(this.#directory, 'blobs/sha256', hexOf(digest));
  }

  async #read(file: string, limit: number): Promise<Buffer | undefined> {
    try {
      const { size } = await stat(file);
      if (size > limit)
        throw new OperatorError('ARTIFACT_INVALID', `${this.url}: ${file} is longer than ${limit} bytes`);
      return await readFile(file);
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
  }

  /** A reader sees the old content or the new one. */
  async #write(file: string, content: () => AsyncIterable<Uint8Array>): Promise<void> {
    const unfinished = `${file}.${process.pid}.tmp`;
    await mkdir(join(this.#directory, 'blobs/sha256'), { recursive: true });
    try {
      await using handle = await open(unfinished, 'w');
      await handle.writeFile(content());
      await handle.sync();
      await rename(unfinished, file);
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}

/** The index with this manifest under this name. An older one of the name stays without it, for its digest. */
function withTag(
  entries: readonly Descriptor[],
  descriptor: Descriptor,
  reference: string,
): readonly Descriptor[] {
  if (isDigest(reference)) {
    return entries.some(({ digest }) => digest === descriptor.digest) ? entries : [...entries, descriptor];
  }
  const named = entries.find((entry) => tagOf(entry) === reference);
  if (named?.digest === descriptor.digest) return entries;
  const others = entries.filter((entry) => entry !== named);
  const isNeeded = named !== undefined && !others.some(({ digest }) => digest === named.digest);
  const tagged = { ...descriptor, annotations: { ...descriptor.annotations, [REF_NAME]: reference } };
  return [...others, ...(isNeeded ? [withoutTag(named)] : []), tagged];
}

function tagOf({ annotations }: Descriptor): string | undefined {
  return annotations?.[REF_NAME];
}

function withoutTag({ annotations, ...descriptor }: Descriptor): Descriptor {
  const { [REF_NAME]: _, ...others } = annotations ?? {};
  return Object.keys(others).length === 0 ? descriptor : { ...descriptor, annotations: others };
}

/** None if the directory is missing. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
