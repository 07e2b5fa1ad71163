/**
 * Packs a module directory as an artifact. Equal files give equal bytes, so that the same version is never pushed twice.
 * The packed archive is read once as a consumer reads it, so that no artifact is made that would be refused.
 */

import { opendir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { isJsonMap } from '@addon-operator/json/merge';
import { digestOf } from '@addon-operator/oci/digest';
import { MANIFEST_TYPE, manifestOf } from '@addon-operator/oci/oci-manifest';
import type { BlobContent, Descriptor, FetchedManifest } from '@addon-operator/oci/repository';
import { parseYaml } from '@addon-operator/yaml';
import { checkManifest, contentDigest } from '../authorization/content-manifest.ts';
import { MANIFEST_FILE, SIGNATURE_FILE } from '../authorization/module-content.ts';
import { readCandidate } from '../authorization/read-candidate.ts';
import { parseModuleManifest } from '../modules/module-manifest.ts';
import { parseDirectoryName } from '../modules/module-name.ts';
import { invalidArtifact } from './invalid-artifact.ts';
import type { ArtifactFacts } from './module-artifact.ts';
import { moduleTar } from './module-tar.ts';
import {
  MODULE_CONFIG,
  MODULE_CONTENT,
  MODULE_TYPE,
  NAME_ANNOTATION,
  VERSION_ANNOTATION,
} from './read-artifact.ts';
import { unpackLayers } from './unpack-layers.ts';
import { versionOf } from './version-tags.ts';

export interface PackOptions {
  /** Default: that of module.yaml, else of Chart.yaml. */
  readonly version?: string | undefined;
  /** Time of creation as an annotation, in seconds since the epoch; undefined: none, so that equal files have equal digests. */
  readonly sourceDateEpoch?: number | undefined;
}

/** An artifact that is ready to be pushed. */
export interface PackedModule {
  readonly name: string;
  readonly version: string;
  readonly manifest: FetchedManifest;
  /** The compressed archive. */
  readonly layer: BlobContent;
  readonly config: BlobContent;
}

/**
 * Packs the module in a directory: all of it but `.git`.
 *
 * @throws OperatorError MODULE_UNAUTHORIZED for what no module may have, MODULE_INVALID for an invalid name or
 *   module.yaml, ARTIFACT_INVALID for what could not be unpacked, and without a version
 */
export async function packModule(
  directory: string,
  options: PackOptions,
  signal: AbortSignal,
): Promise<PackedModule> {
  const { name } = parseDirectoryName(basename(directory));
  await using running = new AsyncDisposableStack();
  const copyTo = await scratchDirectory(running);
  // The copy is described and packed: the directory may change in the meantime.
  const candidate = await readCandidate(
    name,
    directory,
    { copyTo, list: async (path) => await Promise.resolve(withoutGit(path)) },
    signal,
  );
  const { files } = await candidate.content();
  const { manifest, signature } = candidate;
  if (manifest !== undefined) checkSigned(manifest, { name, files });
  const besides = new Map([
    ...(manifest === undefined ? [] : [[MANIFEST_FILE, manifest] as const]),
    ...(signature === undefined ? [] : [[SIGNATURE_FILE, signature] as const]),
  ]);
  const layer = blobOf(MODULE_CONTENT, await moduleTar({ directory: copyTo, files, besides }, signal));
  const packed = await unpackLayers(
    [{ isCompressed: true, chunks: layer.open() }],
    { title: directory },
    signal,
  );
  const digest = contentDigest({ name, files });
  if (contentDigest({ name, files: packed.files }) !== digest)
    throw invalidArtifact(`${directory} cannot be packed: an archive cannot hold its names as they are`);
  const facts = await factsOf(copyTo, name, options);
  const config = blobOf(MODULE_CONFIG, Buffer.from(JSON.stringify({ name, ...facts, digest })));
  const parts = { name, version: facts.version, config, layer };
  return { ...parts, manifest: moduleManifest(parts, options) };
}

async function* withoutGit(directory: string): AsyncGenerator<{ readonly name: string }> {
  for await (const entry of await opendir(directory)) if (entry.name !== '.git') yield entry;
}

function blobOf(mediaType: string, bytes: Buffer): BlobContent {
  const open = async function* open(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes);
  };
  return { mediaType, digest: digestOf(bytes), size: bytes.length, open };
}

/** A signature of other files would be found where the module is installed, too late. */
function checkSigned(manifest: Buffer, content: Parameters<typeof checkManifest>[1]): void {
  try {
    checkManifest(manifest.toString('utf8'), content);
  } catch (cause) {
    if (!hasCode(cause, 'MODULE_UNAUTHORIZED')) throw cause;
    throw invalidArtifact(
      `${MANIFEST_FILE} does not fit what is packed: ${cause.message}; sign the module again, with --sign or with module sign`,
      cause,
    );
  }
}

async function factsOf(directory: string, name: string, options: PackOptions): Promise<ArtifactFacts> {
  const path = join(directory, 'module.yaml');
  const manifest = parseModuleManifest((await readYaml(path)) ?? null, name, 'module.yaml');
  const chart = await readYaml(join(directory, 'Chart.yaml'));
  const written = options.version ?? manifest.version ?? (isJsonMap(chart) ? chart['version'] : undefined);
  const version = versionOf(written);
  if (version === undefined)
    throw invalidArtifact(
      `module ${name} has ${written === undefined ? 'no version' : `the version ${JSON.stringify(written)}, which is not semantic`}: set it in module.yaml or Chart.yaml, or with --version`,
    );
  const needed = manifest.requires.filter(({ isOptional }) => !isOptional);
  return {
    version,
    requires:
      needed.length === 0
        ? undefined
        : Object.fromEntries(needed.map((one) => [one.name, one.version ?? '*'])),
    operator: manifest.operator,
    changelog: sectionOf(await readText(join(directory, 'CHANGELOG.md')), version),
  };
}

const MAX_CHANGELOG_CHARACTERS = 16_384;

/** The part of a changelog below the heading that names a version. */
function sectionOf(changelog: string | undefined, version: string): string | undefined {
  const lines = (changelog ?? '').split('\n');
  const isHeading = (line: string): boolean => /^##? /u.test(line);
  const start = lines.findIndex(
    (line) => isHeading(line) && line.split(/[^0-9A-Za-z.+-]+/u).some((word) => versionOf(word) === version),
  );
  if (start === -1) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex(isHeading);
  const section = rest
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim();
  return section === '' ? undefined : section.slice(0, MAX_CHANGELOG_CHARACTERS);
}

async function readYaml(path: string) {
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    return parseYaml(text, { source: basename(path), booleans: 'yaml-1.2' }).value;
  } catch (cause) {
    throw invalidArtifact(messageOf(cause), cause);
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

function moduleManifest(
  { name, version, config, layer }: Omit<PackedModule, 'manifest'>,
  { sourceDateEpoch }: PackOptions,
): FetchedManifest {
  const descriptorOf = ({ mediaType, digest, size }: BlobContent): Descriptor => ({
    mediaType,
    digest,
    size,
  });
  const created = sourceDateEpoch === undefined ? undefined : isoTime(sourceDateEpoch * 1_000);
  return manifestOf({
    mediaType: MANIFEST_TYPE,
    artifactType: MODULE_TYPE,
    config: descriptorOf(config),
    layers: [descriptorOf(layer)],
    annotations: {
      [NAME_ANNOTATION]: name,
      [VERSION_ANNOTATION]: version,
      ...(created !== undefined && { 'org.opencontainers.image.created': created }),
    },
  });
}
