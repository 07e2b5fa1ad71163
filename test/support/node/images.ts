import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { tarArchive } from '../archives.ts';

/** What of an image's configuration its containers run. */
export interface ContainerDefaults {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly User?: string;
  readonly Env?: readonly string[];
}

interface ImageConfig {
  readonly architecture: string;
  readonly os: string;
  readonly config: ContainerDefaults;
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image in a docker-archive: what a further layer needs to know of it. */
export interface BaseImage {
  readonly config: ImageConfig;
  readonly layers: readonly Descriptor[];
}

/** An image in an archive. */
export interface ArchivedImage extends BaseImage {
  /** With tag: how a node names it once it is loaded there. */
  readonly name: string;
}

const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';

/** Writes an image that contains one static program and starts it. */
export async function scratchImage(archive: string, name: string, program: string): Promise<void> {
  const content = await mkdtemp(`${archive}-`);
  try {
    await copyFile(program, join(content, basename(program)));
    const defaults = { Entrypoint: [`/${basename(program)}`], User: '65532:65532' };
    await writeImage(archive, name, { base: NO_BASE, content, defaults });
  } finally {
    await rm(content, { recursive: true });
  }
}

const NO_BASE: BaseImage = {
  layers: [],
  config: {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [] },
  },
};

/** Reads what {@link writeImage} needs of a docker-archive with one image, and its name. */
export async function readBaseImage(archive: string): Promise<ArchivedImage> {
  const extract = async (member: string): Promise<string> =>
    (await execa('tar', ['--extract', '--to-stdout', '--file', archive, member])).stdout;
  const [entry] = JSON.parse(await extract('manifest.json')) as [ManifestEntry];
  const config = JSON.parse(await extract(entry.Config)) as ImageConfig;
  const { stdout } = await execa('tar', ['--list', '--verbose', '--file', archive]);
  const sizes = new Map(
    stdout.split('\n').map((line) => {
      const [, , size, , , path = ''] = line.split(/\s+/);
      return [path, Number(size)];
    }),
  );
  const layers = config.rootfs.diff_ids.map((digest, index) => {
    const size = sizes.get(entry.Layers[index] ?? '') ?? 0;
    return { mediaType: LAYER_TYPE, digest, size };
  });
  return { name: entry.RepoTags[0] ?? '', config, layers };
}

/** An image in `manifest.json` of a docker-archive. */
interface ManifestEntry {
  readonly Config: string;
  readonly Layers: readonly string[];
  readonly RepoTags: readonly string[];
}

export interface ImageContent {
  readonly base: BaseImage;
  /** Directory whose files become the further layer; they belong to root and keep their modes. */
  readonly content: string;
  readonly defaults?: ContainerDefaults;
}

/**
 * Writes an image (OCI layout in a tar) with one more layer than its base. Layers of the base are left out: they are on
 * the node already, when the base was loaded there.
 */
export async function writeImage(archive: string, name: string, image: ImageContent): Promise<void> {
  const { base, content, defaults = {} } = image;
  const files: Record<string, Buffer | string> = { 'oci-layout': '{"imageLayoutVersion":"1.0.0"}' };
  const addBlob = (mediaType: string, blob: Buffer): Descriptor => {
    const hash = createHash('sha256').update(blob).digest('hex');
    files[`blobs/sha256/${hash}`] = blob;
    return { mediaType, digest: `sha256:${hash}`, size: blob.length };
  };
  const addJson = (mediaType: string, value: object): Descriptor =>
    addBlob(mediaType, Buffer.from(JSON.stringify(value)));
  const layer = addBlob(LAYER_TYPE, await layerOf(content));
  const { history: _, ...parent } = base.config;
  const config = addJson(CONFIG_TYPE, {
    ...parent,
    config: { ...parent.config, ...defaults },
    rootfs: { type: 'layers', diff_ids: [...parent.rootfs.diff_ids, layer.digest] },
  });
  const manifest = addJson(MANIFEST_TYPE, {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config,
    layers: [...base.layers, layer],
  });
  const annotations = { 'io.containerd.image.name': name };
  const index = { schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [{ ...manifest, annotations }] };
  files['index.json'] = JSON.stringify(index);
  await writeFile(archive, tarArchive(files));
}

async function layerOf(directory: string): Promise<Buffer> {
  const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  const args = ['--create', ...reproducible, '--directory', directory, '.'];
  const { stdout } = await execa('tar', args, { encoding: 'buffer', maxBuffer: 1_000_000_000 });
  return Buffer.from(stdout);
}
