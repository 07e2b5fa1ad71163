/** Writes the files of a recognized artifact. Everything goes by digest: what was verified is what is unpacked. */

import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { invalidArtifact } from './invalid-artifact.ts';
import type { ModuleArtifact } from './module-artifact.ts';
import { type ArchiveLayer, type UnpackedContent, unpackLayers } from './unpack-layers.ts';

/** One of these is at the top of every module. */
const MODULE_FILES = ['module.yaml', 'Chart.yaml', 'values.yaml', 'enabled'];
const MODULE_DIRECTORIES = ['templates', 'hooks', 'crds', 'openapi'];

/**
 * Unpacks an artifact into an empty directory, which is empty again after an error.
 *
 * @throws OperatorError ARTIFACT_INVALID; errors of the repository and of the disk; `signal.reason`
 */
export async function unpackArtifact(
  repository: Repository,
  { format, digest, layers }: ModuleArtifact,
  directory: string,
  signal: AbortSignal,
): Promise<UnpackedContent> {
  const title = `${repository.url}@${digest}`;
  return await unpackLayers(
    layers.map((layer) => layerOf(repository, layer, signal)),
    {
      title,
      directory,
      stripsTop: format === 'helm-chart',
      isImage: format === 'deckhouse',
      check: (content) => {
        if (!isModule(content))
          throw invalidArtifact(
            'there is no file of a module at its top, such as module.yaml, Chart.yaml, templates/ or hooks/',
          );
      },
    },
    signal,
  );
}

/** A layer that is fetched when it is read. */
export function layerOf(repository: Repository, layer: Descriptor, signal: AbortSignal): ArchiveLayer {
  return { isCompressed: layer.mediaType.endsWith('gzip'), chunks: repository.blob(layer, signal) };
}

function isModule({ files }: UnpackedContent): boolean {
  return files.some(
    ({ path }) =>
      MODULE_FILES.includes(path) || MODULE_DIRECTORIES.some((name) => path.startsWith(`${name}/`)),
  );
}
