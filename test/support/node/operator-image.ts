import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { type BuiltImage, buildImage, saveImage } from '../../../release/build-image.ts';
import { findEngine, imageStore, runEngine } from '../../../release/engine.ts';
import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';

/** The name of the operator's image on a test node. */
export const OPERATOR_IMAGE = 'localhost/addon-operator:latest';
const ARCHIVE = 'ADDON_OPERATOR_IMAGE_ARCHIVE';
/** A test run that started this long ago does not load the archive any more. */
const ARCHIVE_KEPT_MS = 3 * 60 * 60 * 1_000;

/**
 * A docker-archive of the operator's image: the one that `ADDON_OPERATOR_IMAGE_ARCHIVE` names, else it is built with buildah,
 * from cached layers where nothing has changed. Throws when it cannot be had; the message says why.
 */
export async function findOperatorImage(
  { env, onProgress }: FindOptions,
  signal: AbortSignal,
): Promise<string> {
  const archive = env[ARCHIVE] ?? '';
  if (!isArchiveNamed(env)) return await buildOperatorImage(onProgress, signal);
  if (await isPresent(archive)) return archive;
  throw new Error(`There is no archive of the operator's image at ${archive} (${ARCHIVE})`);
}

/** Whether an archive of the image is given. */
export function isArchiveNamed(env: FindOptions['env']): boolean {
  return (env[ARCHIVE] ?? '') !== '';
}

/** The image that {@link findOperatorImage} has built. */
export async function builtOperatorImage(signal: AbortSignal): Promise<Omit<BuiltImage, 'durationMs'>> {
  return { engine: await findEngine('buildah', signal), name: OPERATOR_IMAGE };
}

async function buildOperatorImage(
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const image = await buildImage({ engine: 'buildah', tag: OPERATOR_IMAGE, onProgress }, signal);
  onProgress(`image built in ${Math.round(image.durationMs / 1_000)} s`);
  const format = ['images', '--quiet', '--no-trunc', image.name];
  const id = (await runEngine(image.engine, format, undefined, signal)).replace('sha256:', '');
  const directory = imageStore();
  const archive = join(directory, `operator-${id.slice(0, 12)}.tar`);
  const now = new Date(systemClock.wallMs());
  if (await isPresent(archive)) {
    await utimes(archive, now, now);
    return archive;
  }
  for (const name of await readdir(directory)) {
    const file = join(directory, name);
    if (!/^operator.*\.tar/.test(name)) continue;
    const { mtimeMs } = await stat(file);
    if (mtimeMs < now.getTime() - ARCHIVE_KEPT_MS) await rm(file, { force: true });
  }
  const unfinished = `${archive}.${process.pid}`;
  await saveImage(image, unfinished, signal);
  await rename(unfinished, archive);
  return archive;
}
