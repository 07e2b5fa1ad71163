import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage, saveImage } from '../../../release/build-image.ts';
import { imageStore } from '../../../release/engine.ts';
import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';

/** The name of the operator's image on a test node. */
export const OPERATOR_IMAGE = 'localhost/addon-operator:latest';

/**
 * A docker-archive of the operator's image: the one that `ADDON_OPERATOR_IMAGE_ARCHIVE` names, else it is built with buildah,
 * from cached layers where nothing has changed. Throws when it cannot be had; the message says why.
 */
export async function findOperatorImage(
  { env, onProgress }: FindOptions,
  signal: AbortSignal,
): Promise<string> {
  const archive = env['ADDON_OPERATOR_IMAGE_ARCHIVE'] ?? '';
  if (archive === '') return await buildOperatorImage(onProgress, signal);
  if (await isPresent(archive)) return archive;
  throw new Error(`There is no archive of the operator's image at ${archive} (ADDON_OPERATOR_IMAGE_ARCHIVE)`);
}

async function buildOperatorImage(
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const image = await buildImage({ engine: 'buildah', tag: OPERATOR_IMAGE, onProgress }, signal);
  onProgress(`image built in ${Math.round(image.durationMs / 1_000)} s`);
  const directory = imageStore();
  await mkdir(directory, { recursive: true });
  const archive = join(directory, 'operator.tar');
  await saveImage(image, archive, signal);
  return archive;
}
