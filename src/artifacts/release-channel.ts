/** Release channels of Deckhouse: images that name the version of a channel. */

import type { Repository } from '@addon-operator/oci/repository';
import { invalidArtifact } from './invalid-artifact.ts';
import { jsonObject, readArtifact } from './read-artifact.ts';
import { layerOf } from './unpack-artifact.ts';
import { unpackLayers } from './unpack-layers.ts';
import { tagOfVersion, versionOf } from './version-tags.ts';

const VERSION_FILE = 'version.json';

/**
 * The tag of the version that a channel offers, such as `v1.2.3`; its image is in the repository of the module.
 *
 * @param releases the repository `release` below that of the module
 * @param channel in kebab case, such as `early-access`
 * @returns undefined without this channel
 * @throws OperatorError ARTIFACT_INVALID for an image without a version; errors of the repository
 */
export async function resolveChannel(
  releases: Repository,
  channel: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const descriptor = await releases.resolve(channel, signal);
  if (descriptor === undefined) return undefined;
  const title = `${releases.url}:${channel}`;
  // The image has no version of its own.
  const { layers, format } = await readArtifact(releases, descriptor, signal, { tag: '0.0.0' });
  if (format !== 'deckhouse') throw invalidArtifact(`${title} is not an image`);
  const { documents } = await unpackLayers(
    layers.map((layer) => layerOf(releases, layer, signal)),
    { title, isImage: true },
    signal,
  );
  const file = documents.get(VERSION_FILE);
  if (file === undefined) throw invalidArtifact(`${title} has no ${VERSION_FILE}`);
  const version = versionOf(jsonObject(Buffer.from(file), `${VERSION_FILE} of ${title}`)['version']);
  if (version === undefined) throw invalidArtifact(`${VERSION_FILE} of ${title} has no semantic version`);
  return `v${tagOfVersion(version)}`;
}
