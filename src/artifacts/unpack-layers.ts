/**
 * Unpacks archives from a stream into an empty directory. Each entry is judged by `ContentTree` before a byte of it is
 * written, files are created and never opened again, and links are made last, so that nothing is written through one.
 */

import { createHash } from 'node:crypto';
import { link, mkdir, open, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { OperatorError } from '@addon-operator/base/errors';
import { readTar, type StreamedEntry } from '@addon-operator/files/tar-reader';
import { type ContentEntry, MANIFEST_FILE, SIGNATURE_FILE } from '../authorization/module-content.ts';
import { ContentTree, linkTarget, pathOf, UNPACK_LIMITS, type UnpackLimits } from './content-tree.ts';
import { invalidArtifact } from './invalid-artifact.ts';

export interface ArchiveLayer {
  readonly isCompressed: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface UnpackOptions {
  /** The name of the archive in messages. */
  readonly title: string;
  /** Undefined: everything is checked and nothing written. */
  readonly directory?: string;
  /** The names of all entries begin with one directory, which is left out. */
  readonly stripsTop?: boolean;
  /** Layers of an image: whiteouts count, files of the builder are left out, and modes are kept for the owner only. */
  readonly isImage?: boolean;
  readonly limits?: UnpackLimits;
  /** Throws for content that is not what it should be. */
  readonly check?: (content: UnpackedContent) => void;
}

/** The content of an archive. */
export interface UnpackedContent {
  /** As `readContent` describes a directory: sorted, without manifest and signature. */
  readonly files: readonly ContentEntry[];
  /** Small files at the top that say what the content is, by name. */
  readonly documents: ReadonlyMap<string, string>;
  /** The one directory at the top, if nothing else is there. */
  readonly topDirectory: string | undefined;
}

/** Files that name a module and its version. */
const DOCUMENTS: readonly string[] = ['Chart.yaml', 'module.yaml', 'version.json'];
const MAX_DOCUMENT_BYTES = 1024 * 1024;

/**
 * Unpacks layers, each above the one before. After an error the directory is empty.
 *
 * @throws OperatorError ARTIFACT_INVALID; errors of the streams and of the disk; `signal.reason`
 */
export async function unpackLayers(
  layers: Iterable<ArchiveLayer>,
  options: UnpackOptions,
  signal: AbortSignal,
): Promise<UnpackedContent> {
  const unpacker = new Unpacker(options, signal);
  try {
    for (const layer of layers) await unpacker.layer(layer);
    const content = await unpacker.finish();
    options.check?.(content);
    return content;
  } catch (error) {
    const { directory } = options;
    if (directory !== undefined)
      for (const name of await readdir(directory))
        await rm(join(directory, name), { recursive: true, force: true });
    signal.throwIfAborted();
    throw located(error, options.title);
  }
}

/** Says of what an archive's error speaks. */
function located(error: unknown, title: string): unknown {
  if (error instanceof OperatorError && error.code === 'ARTIFACT_INVALID' && !error.message.startsWith(title))
    return invalidArtifact(`${title}: ${error.message}`, error);
  if (error instanceof RangeError || isOfZlib(error))
    return invalidArtifact(`${title}: the archive cannot be read: ${error.message}`, error);
  return error;
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

/** Bytes of all layers so far. */
interface Totals {
  compressed: number;
  unpacked: number;
}

/** The tar archive of a layer. It is read to its end, so that its digest is checked. */
async function* unzipped(
  { isCompressed, chunks }: ArchiveLayer,
  limits: UnpackLimits,
  totals: Totals,
): AsyncGenerator<Uint8Array> {
  let isAtEnd = false;
  const counted = async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      totals.compressed += chunk.length;
      if (totals.compressed > limits.compressedBytes)
        throw invalidArtifact(`it has more than ${limits.compressedBytes} bytes`);
      yield chunk;
    }
    isAtEnd = true;
  };
  if (!isCompressed) return yield* counted();
  // Errors end the loop below too.
  for await (const chunk of pipeline(counted(), createGunzip(), () => undefined)) {
    const bytes = chunk as Buffer;
    totals.unpacked += bytes.length;
    // Headers and padding have no other limit.
    if (totals.unpacked > 2 * limits.bytes)
      throw invalidArtifact(`the archive has more than ${2 * limits.bytes} bytes`);
    if (totals.unpacked > FREE_BYTES && totals.unpacked > limits.ratio * totals.compressed)
      throw invalidArtifact(`it grows to more than ${limits.ratio} times its size when it is unpacked`);
    yield bytes;
  }
  if (!isAtEnd) throw invalidArtifact('there is data behind the end of the archive');
}

const FREE_BYTES = 1024 * 1024;

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
/** Files that the builder of Deckhouse leaves in its images. */
const OF_BUILDER = '.werf';

class Unpacker {
  readonly #options: UnpackOptions;
  readonly #limits: UnpackLimits;
  readonly #signal: AbortSignal;
  readonly #tree: ContentTree;
  readonly #files = new Map<string, ContentEntry>();
  readonly #documents = new Map<string, string>();
  readonly #tops = new Set<string>();
  readonly #totals: Totals = { compressed: 0, unpacked: 0 };
  #hasTopFile = false;

  constructor(options: UnpackOptions, signal: AbortSignal) {
    this.#options = options;
    this.#limits = options.limits ?? UNPACK_LIMITS;
    this.#signal = signal;
    this.#tree = new ContentTree(this.#limits);
  }

  async layer(layer: ArchiveLayer): Promise<void> {
    this.#tree.nextLayer();
    for await (const entry of readTar(unzipped(layer, this.#limits, this.#totals))) {
      this.#signal.throwIfAborted();
      const path = this.#strip(pathOf(entry.name), entry);
      if (path !== undefined) await this.#take(path, entry);
    }
  }

  async finish(): Promise<UnpackedContent> {
    for (const { path, target } of this.#tree.links()) {
      this.#files.set(path, { path, link: target });
      await this.#write(path, (place) => symlink(target, place));
    }
    const isContent = ({ path }: ContentEntry): boolean => path !== MANIFEST_FILE && path !== SIGNATURE_FILE;
    const [top] = this.#tops;
    return {
      files: [...this.#files.values()].filter(isContent).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      documents: this.#documents,
      topDirectory: this.#tops.size === 1 && !this.#hasTopFile ? top : undefined,
    };
  }

  /** The path in the module; undefined for the root, and for the directory that is left out. */
  #strip(path: string, { type }: StreamedEntry): string | undefined {
    if (path === '') return undefined;
    const [top = '', ...rest] = path.split('/');
    this.#tops.add(top);
    if (rest.length === 0 && type !== 'directory') this.#hasTopFile = true;
    if (this.#options.stripsTop !== true) return path;
    if (this.#tops.size > 1 || this.#hasTopFile)
      throw invalidArtifact(
        `${path} is beside ${[...this.#tops][0]}/, the one directory that was expected at the top`,
      );
    return rest.length === 0 ? undefined : rest.join('/');
  }

  async #take(path: string, entry: StreamedEntry): Promise<void> {
    if (this.#options.isImage === true) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (path.split('/').some((part) => part.startsWith(OF_BUILDER))) return;
      const directory = path.slice(0, Math.max(0, path.length - name.length - 1));
      if (name === OPAQUE) return await this.#discard(this.#tree.whiteout(directory, true));
      if (name.startsWith(WHITEOUT)) {
        const hidden = join(directory, pathOf(name.slice(WHITEOUT.length)));
        return await this.#discard(this.#tree.whiteout(hidden, false));
      }
    }
    switch (entry.type) {
      case 'directory':
        await this.#discard(this.#tree.add({ type: 'directory', path }));
        await this.#write(path, (place) => mkdir(place, { recursive: true, mode: 0o755 }));
        return;
      case 'symlink':
        return await this.#discard(
          this.#tree.add({ type: 'symlink', path, target: linkTarget(path, entry.linkName) }),
        );
      case 'hardlink':
        return await this.#takeHardLink(path, entry);
      case 'file':
        await this.#discard(this.#tree.add({ type: 'file', path, sizeBytes: entry.sizeBytes }));
        await this.#writeFile(path, entry);
    }
  }

  async #takeHardLink(path: string, entry: StreamedEntry): Promise<void> {
    const target = this.#strip(pathOf(entry.linkName), entry) ?? '';
    const { sizeBytes } = this.#tree.hardLinkTarget(path, target);
    await this.#discard(this.#tree.add({ type: 'file', path, sizeBytes }));
    const file = this.#files.get(target);
    if (file !== undefined) this.#files.set(path, { ...file, path });
    const { directory } = this.#options;
    await this.#write(path, (place) => link(join(directory ?? '', target), place));
  }

  async #writeFile(path: string, entry: StreamedEntry): Promise<void> {
    const mode =
      this.#options.isImage === true
        ? (entry.mode & 0o700) | 0o400
        : isExecutable(entry.mode)
          ? 0o755
          : 0o644;
    const kept = DOCUMENTS.includes(path) && entry.sizeBytes <= MAX_DOCUMENT_BYTES ? [] : undefined;
    const hash = createHash('sha256');
    await this.#write(path, async (place) => {
      await using file = await open(place, 'wx', mode);
      for await (const chunk of this.#content(entry, hash, kept)) await file.writeFile(chunk);
    });
    // Without a directory nothing has read it.
    for await (const _ of this.#content(entry, hash, kept));
    if (kept !== undefined) this.#documents.set(path, Buffer.concat(kept).toString('utf8'));
    this.#files.set(path, {
      path,
      sha256: hash.digest('hex'),
      size: entry.sizeBytes,
      ...(isExecutable(mode) && { executable: true }),
    });
  }

  async *#content(
    entry: StreamedEntry,
    hash: ReturnType<typeof createHash>,
    kept: Buffer[] | undefined,
  ): AsyncGenerator<Buffer> {
    for await (const chunk of entry.content()) {
      this.#signal.throwIfAborted();
      hash.update(chunk);
      kept?.push(Buffer.from(chunk));
      yield chunk;
    }
  }

  /** Runs an effect at the place of a path, in directories that exist. */
  async #write(path: string, effect: (place: string) => Promise<unknown>): Promise<void> {
    const { directory } = this.#options;
    if (directory === undefined) return;
    await mkdir(join(directory, dirname(path)), { recursive: true, mode: 0o755 });
    await effect(join(directory, path));
  }

  async #discard(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      this.#files.delete(path);
      this.#documents.delete(path);
      const { directory } = this.#options;
      if (directory !== undefined) await rm(join(directory, path), { recursive: true, force: true });
    }
  }
}

function isExecutable(mode: number): boolean {
  return (mode & 0o111) !== 0;
}
