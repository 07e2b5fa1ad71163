import { createHash } from 'node:crypto';
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { type BuiltImage, buildImage, type ImageOptions, saveImage } from '../../../release/build-image.ts';
import { findEngine, imageStore } from '../../../release/engine.ts';
import { imageId } from '../../../release/last-build.ts';
import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';

const projectRoot = join(import.meta.dirname, '../../..');
const CHECKOUT = createHash('sha256').update(projectRoot).digest('hex').slice(0, 12);
/** Checkouts that are tested at the same time build in one storage. */
const OPERATOR_IMAGE = `localhost/addon-operator-test:${CHECKOUT}`;
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

/** What an image of the tests is built with: from cached layers, or with more packages under a name of its own. */
export function imageOptions(
  onProgress: ImageOptions['onProgress'],
  extraPackages: readonly string[] = [],
): ImageOptions {
  const tag = [OPERATOR_IMAGE, ...extraPackages].join('-');
  return { engine: 'buildah', tag, isOfCheckout: true, extraPackages, onProgress };
}

/** The image that {@link findOperatorImage} has built. */
export async function builtOperatorImage(signal: AbortSignal): Promise<Omit<BuiltImage, 'durationMs'>> {
  return { engine: await findEngine('buildah', signal), name: OPERATOR_IMAGE };
}

async function buildOperatorImage(
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const image = await buildImage(imageOptions(onProgress), signal);
  onProgress(`image built in ${Math.round(image.durationMs / 1_000)} s`);
  const id = await imageId(image.engine, image.name, signal);
  const archive = join(imageStore(), `operator-${id.slice(0, 12)}.tar`);
  if (await isPresent(archive)) await keep(archive);
  else await writeArchive(image, archive, signal);
  return archive;
}

async function keep(archive: string): Promise<string> {
  const now = new Date(systemClock.wallMs());
  await utimes(archive, now, now);
  return archive;
}

/** Writes the archive of a new image, and removes old ones. */
async function writeArchive(image: BuiltImage, archive: string, signal: AbortSignal): Promise<void> {
  for (const name of await readdir(imageStore())) {
    const file = join(imageStore(), name);
    if (!/^operator.*\.tar/.test(name)) continue;
    const { mtimeMs } = await stat(file);
    if (mtimeMs < systemClock.wallMs() - ARCHIVE_KEPT_MS) await rm(file, { force: true });
  }
  const unfinished = `${archive}.${process.pid}`;
  await saveImage(image, unfinished, signal);
  await rename(unfinished, archive);
}
