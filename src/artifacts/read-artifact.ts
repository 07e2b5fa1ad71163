/** Says which form of a module a manifest is, and which version of which module, without fetching its content. */

import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import { INDEX_TYPES, type ManifestContent, readManifest } from '@addon-operator/oci/oci-manifest';
import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { readBlob } from './blobs.ts';
import { UNPACK_LIMITS } from './content-tree.ts';
import { invalidArtifact } from './invalid-artifact.ts';
import type { ArtifactFacts, ArtifactFormat, ModuleArtifact } from './module-artifact.ts';
import { versionOf, versionOfTag } from './version-tags.ts';

export const MODULE_TYPE = 'application/vnd.addon-operator.module.v1';
export const MODULE_CONFIG = 'application/vnd.addon-operator.module.config.v1+json';
export const MODULE_CONTENT = 'application/vnd.addon-operator.module.content.v1.tar+gzip';

interface Form {
  readonly format: ArtifactFormat;
  readonly title: string;
  readonly configs: readonly string[];
  readonly artifactType?: string;
  readonly content: readonly string[];
  /** Layers that may be beside the content. */
  readonly ignored?: readonly string[];
}

const CHART_CONTENT = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const FLUX_CONTENT = 'application/vnd.cncf.flux.content.v1.tar+gzip';

const FORMS: readonly Form[] = [
  {
    format: 'module',
    title: 'a module of addon-operator',
    configs: [MODULE_CONFIG],
    artifactType: MODULE_TYPE,
    content: [MODULE_CONTENT],
  },
  {
    format: 'helm-chart',
    title: 'a helm chart',
    configs: ['application/vnd.cncf.helm.config.v1+json'],
    // The older name is what helm wrote before 3.8.
    content: [CHART_CONTENT, 'application/tar+gzip'],
    ignored: ['application/vnd.cncf.helm.chart.provenance.v1.prov'],
  },
  {
    format: 'flux',
    title: 'an artifact of Flux',
    configs: ['application/vnd.cncf.flux.config.v1+json'],
    content: [FLUX_CONTENT],
  },
  {
    format: 'deckhouse',
    title: 'a module image of Deckhouse',
    configs: ['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json'],
    content: [
      'application/vnd.oci.image.layer.v1.tar+gzip',
      'application/vnd.oci.image.layer.v1.tar',
      'application/vnd.docker.image.rootfs.diff.tar.gzip',
      'application/vnd.docker.image.rootfs.diff.tar',
    ],
  },
];

const ACCEPTED = FORMS.map(
  ({ title, configs, content }) => `${title} (config ${configs[0]}, layer ${content[0]})`,
).join('; ');

export interface ReadArtifactOptions {
  /** By which it was found, for the version of formats that have none. */
  readonly tag?: string | undefined;
  /** In the words of OCI; default: that of this process. */
  readonly architecture?: string;
}

/**
 * Recognizes a manifest.
 *
 * @throws OperatorError ARTIFACT_INVALID with the accepted forms for any other one; errors of the repository
 */
export async function readArtifact(
  repository: Repository,
  descriptor: Descriptor,
  signal: AbortSignal,
  { tag, architecture = ownArchitecture() }: ReadArtifactOptions = {},
): Promise<ModuleArtifact> {
  const title = `${repository.url}@${descriptor.digest}`;
  const first = await fetchManifest(repository, descriptor.digest, signal);
  const isIndex = INDEX_TYPES.includes(first.mediaType);
  const digest = isIndex ? platformOf(first, architecture, title) : descriptor.digest;
  const manifest = isIndex ? await fetchManifest(repository, digest, signal) : first;
  const form = formOf(manifest, title);
  if (isIndex && form.format !== 'deckhouse')
    throw invalidArtifact(
      `${title} is an index, whose manifest for linux/${architecture} is ${form.title}; only indexes of images are accepted: name the manifest itself`,
    );
  const layers = contentOf(manifest, form, title);
  const facts = await factsOf({ repository, manifest, form, tag, title }, signal);
  return { format: form.format, digest, facts, layers };
}

interface Manifest extends Pick<ManifestContent, 'artifactType' | 'config' | 'layers' | 'manifests'> {
  readonly mediaType: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The content of a manifest. @throws OperatorError ARTIFACT_INVALID; errors of the repository */
export async function fetchManifest(
  repository: Repository,
  digest: string,
  signal: AbortSignal,
): Promise<Manifest> {
  const { bytes, descriptor } = await repository.manifest(digest, signal);
  const { mediaType, annotations, ...content } = readManifest(bytes, `${repository.url}@${digest}`);
  return { ...content, mediaType: mediaType ?? descriptor.mediaType, annotations: annotations ?? {} };
}

/** @throws OperatorError ARTIFACT_INVALID */
export function jsonObject(bytes: Uint8Array, title: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(Buffer.from(bytes).toString('utf8'));
    if (isObject(value)) return value;
  } catch (cause) {
    throw invalidArtifact(`${title} is not JSON: ${messageOf(cause)}`, cause);
  }
  throw invalidArtifact(`${title} is not a JSON object`);
}

/** By the type of the config, else the type of the artifact, else that of a layer. */
function formOf({ config, artifactType, layers, mediaType }: Manifest, title: string): Form {
  const form =
    FORMS.find(({ configs }) => config !== undefined && configs.includes(config.mediaType)) ??
    FORMS.find((each) => artifactType !== undefined && each.artifactType === artifactType) ??
    FORMS.find(({ content }) => layers.some((layer) => content.includes(layer.mediaType)));
  if (form !== undefined) return form;
  const types = [config?.mediaType, artifactType, ...layers.map((layer) => layer.mediaType)].filter(
    (type) => type,
  );
  throw invalidArtifact(
    `${title} is not a module: it is ${mediaType || 'a manifest without a type'} with ${types.length === 0 ? 'no content' : types.slice(0, 5).join(', ')}; accepted are ${ACCEPTED}`,
  );
}

function contentOf({ layers }: Manifest, form: Form, title: string): readonly Descriptor[] {
  const wanted = layers.filter(({ mediaType }) => form.ignored?.includes(mediaType) !== true);
  const other = wanted.find(({ mediaType }) => !form.content.includes(mediaType));
  if (other !== undefined)
    throw invalidArtifact(
      `${title} is ${form.title}, but has a layer of type ${other.mediaType}; accepted are ${form.content.join(', ')}`,
    );
  if (wanted.length === 0 || (form.format !== 'deckhouse' && wanted.length > 1))
    throw invalidArtifact(
      `${title} is ${form.title}, but has ${wanted.length} layers of content instead of one`,
    );
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0);
  if (bytes > UNPACK_LIMITS.compressedBytes)
    throw invalidArtifact(
      `${title} has ${bytes} bytes of content, at most ${UNPACK_LIMITS.compressedBytes} are accepted`,
    );
  return wanted;
}

function platformOf({ manifests }: Manifest, architecture: string, title: string): string {
  const isOwn = ({ platform }: Descriptor) =>
    platform?.os === 'linux' && platform.architecture === architecture;
  const chosen = manifests.find(isOwn);
  if (chosen !== undefined) return chosen.digest;
  const found = manifests
    .flatMap(({ platform }) => (platform === undefined ? [] : [`${platform.os}/${platform.architecture}`]))
    .slice(0, 10)
    .join(', ');
  throw invalidArtifact(
    `${title} is an index without linux/${architecture}, it has ${found || 'no platforms'}; accepted are ${ACCEPTED}`,
  );
}

function ownArchitecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

interface FactsInput {
  readonly repository: Repository;
  readonly manifest: Manifest;
  readonly form: Form;
  readonly tag: string | undefined;
  readonly title: string;
}

export const VERSION_ANNOTATION = 'org.opencontainers.image.version';
export const NAME_ANNOTATION = 'org.opencontainers.image.title';

async function factsOf(
  { repository, manifest, form, tag, title }: FactsInput,
  signal: AbortSignal,
): Promise<ArtifactFacts> {
  const { config, annotations } = manifest;
  // The config of an image says nothing about a module.
  const isOurs =
    form.format !== 'deckhouse' && config !== undefined && form.configs.includes(config.mediaType);
  const fields = isOurs ? await readConfig(repository, config, title, signal) : {};
  const name = fields['name'] ?? annotations[NAME_ANNOTATION];
  const version =
    versionOf(fields['version']) ?? versionOf(annotations[VERSION_ANNOTATION]) ?? versionOfTag(tag ?? '');
  if (version === undefined)
    throw invalidArtifact(
      `${title} has no version: name it by a version tag, or push it with the annotation ${VERSION_ANNOTATION}`,
    );
  const { operator, changelog } = form.format === 'module' ? fields : {};
  const requires = form.format === 'module' ? rangesOf(fields['requires']) : undefined;
  return {
    version,
    ...(typeof name === 'string' && name !== '' && { name }),
    ...(requires && { requires }),
    ...(typeof operator === 'string' && { operator }),
    ...(typeof changelog === 'string' && { changelog }),
  };
}

function rangesOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

const MAX_CONFIG_BYTES = 1024 * 1024;

async function readConfig(
  repository: Repository,
  config: Descriptor,
  title: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readBlob(repository, config, MAX_CONFIG_BYTES, signal).catch((cause: unknown) => {
    throw hasCode(cause, 'ARTIFACT_INVALID')
      ? invalidArtifact(`the config of ${title}: ${cause.message}`, cause)
      : cause;
  });
  return bytes.length === 0 ? {} : jsonObject(bytes, `the config of ${title}`);
}
