/** Archives of modules on disk: packages of helm, and what `module pack` or `tar czf` wrote. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isJsonMap } from '@addon-operator/json/merge';
import { parseYaml } from '@addon-operator/yaml';
import { contentDigest } from '../authorization/content-manifest.ts';
import { parseModuleName } from '../modules/module-name.ts';
import { UNPACK_LIMITS } from './content-tree.ts';
import { invalidArtifact } from './invalid-artifact.ts';
import { type UnpackedContent, unpackLayers } from './unpack-layers.ts';
import { versionOf } from './version-tags.ts';

/** Name, version and digest of the module in an archive. */
export interface ArchiveFacts {
  readonly module: string;
  /** SemVer without `v`. */
  readonly version: string;
  /** Of name and files, as `module digest` prints it. */
  readonly digest: string;
}

/**
 * Reads all of an archive and checks it, without writing anything.
 *
 * @throws OperatorError ARTIFACT_INVALID; errors of the disk; `signal.reason`
 */
export async function readArchive(file: string, signal: AbortSignal): Promise<ArchiveFacts> {
  return (await inspect(file, signal)).facts;
}

/**
 * Unpacks an archive into an empty directory, which is empty again after an error.
 *
 * @throws OperatorError ARTIFACT_INVALID; errors of the disk; `signal.reason`
 */
export async function unpackArchive(
  file: string,
  directory: string,
  signal: AbortSignal,
): Promise<ArchiveFacts> {
  const { facts, stripsTop } = await inspect(file, signal);
  const { files } = await unpackFile(file, { directory, stripsTop }, signal);
  if (contentDigest({ name: facts.module, files }) === facts.digest) return facts;
  throw invalidArtifact(`${file} was changed while it was read`);
}

/** Names at the top of a module, so that a directory of this name is not the one that packages of helm begin with. */
const MODULE_MARKS = ['hooks', 'templates', 'crds', 'openapi', 'charts'];

async function inspect(
  file: string,
  signal: AbortSignal,
): Promise<{ readonly facts: ArchiveFacts; readonly stripsTop: boolean }> {
  const whole = await unpackFile(file, {}, signal);
  const stripsTop = whole.topDirectory !== undefined && !MODULE_MARKS.includes(whole.topDirectory);
  const content = stripsTop ? await unpackFile(file, { stripsTop }, signal) : whole;
  const { documents, files } = content;
  const named = factsOfFileName(file);
  const chart = documentOf(documents, 'Chart.yaml', file);
  const manifest = documentOf(documents, 'module.yaml', file);
  const name = named.name ?? chart['name'] ?? manifest['name'] ?? whole.topDirectory;
  const version = versionOf(manifest['version']) ?? versionOf(chart['version']) ?? named.version;
  if (version === undefined)
    throw invalidArtifact(
      `${file} has no version: set it in module.yaml or Chart.yaml, or name the file NAME-1.2.3.tgz`,
    );
  const module = moduleName(name, file);
  return { facts: { module, version, digest: contentDigest({ name: module, files }) }, stripsTop };
}

/** `NAME-VERSION.tgz`, as helm and `module pack` name archives. */
function factsOfFileName(file: string): { readonly name?: string; readonly version?: string } {
  const stem = basename(file).replace(/\.(?:tgz|tar\.gz)$/u, '');
  const at = stem.search(/-v?\d+\./u);
  const version = versionOf(stem.slice(at + 1));
  return at === -1 || version === undefined ? {} : { name: stem.slice(0, at), version };
}

function moduleName(name: unknown, file: string): string {
  if (typeof name !== 'string') throw invalidArtifact(`${file} has no name: name the file NAME-1.2.3.tgz`);
  try {
    return parseModuleName(name);
  } catch (cause) {
    if (!hasCode(cause, 'MODULE_INVALID')) throw cause;
    throw invalidArtifact(`${file}: ${cause.message}`, cause);
  }
}

function documentOf(
  documents: UnpackedContent['documents'],
  name: string,
  title: string,
): Readonly<Record<string, unknown>> {
  try {
    const { value } = parseYaml(documents.get(name) ?? '', { source: name, booleans: 'yaml-1.2' });
    return isJsonMap(value) ? value : {};
  } catch (cause) {
    throw invalidArtifact(`${title}: ${messageOf(cause)}`, cause);
  }
}

async function unpackFile(
  file: string,
  options: { readonly directory?: string; readonly stripsTop?: boolean },
  signal: AbortSignal,
): Promise<UnpackedContent> {
  const { size } = await stat(file);
  if (size > UNPACK_LIMITS.compressedBytes)
    throw invalidArtifact(`${file} has more than ${UNPACK_LIMITS.compressedBytes} bytes`);
  const layer = { isCompressed: true, chunks: createReadStream(file) };
  return await unpackLayers([layer], { title: file, ...options }, signal);
}
