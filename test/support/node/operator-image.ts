import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { type BuiltImage, buildImage, revision, saveImage } from '../../../release/build-image.ts';
import { type Engine, findEngine, imageStore, runEngine } from '../../../release/engine.ts';
import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';
import { digestOfImageSources } from './image-sources.ts';

/** The name of the operator's image on a test node. */
export const OPERATOR_IMAGE = 'localhost/addon-operator:latest';
const projectRoot = join(import.meta.dirname, '../../..');
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

/** The newest image of this checkout. */
interface LastBuild {
  /** Of what it was built from. */
  readonly sources: string;
  readonly id: string;
  readonly archive: string;
}

/** To compare an unchanged tree with the layers takes buildah 15 s, and a run of the gate needs the image three times. */
async function buildOperatorImage(
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const sources = await digestOfImageSources(projectRoot, [process.version, await revision(signal)]);
  const engine = await findEngine('buildah', signal);
  const record = join(
    imageStore(),
    `operator-${createHash('sha256').update(projectRoot).digest('hex')}.json`,
  );
  const last = await readLastBuild(record);
  if (last?.sources === sources && (await isPresent(last.archive))) {
    const id = await imageId(engine, signal).catch(() => undefined);
    if (id === last.id) return await keep(last.archive);
  }
  const image = await buildImage({ engine: 'buildah', tag: OPERATOR_IMAGE, onProgress }, signal);
  onProgress(`image built in ${Math.round(image.durationMs / 1_000)} s`);
  const id = await imageId(engine, signal);
  const archive = join(imageStore(), `operator-${id.slice(0, 12)}.tar`);
  if (await isPresent(archive)) await keep(archive);
  else await writeArchive(image, archive, signal);
  await writeFile(record, JSON.stringify({ sources, id, archive } satisfies LastBuild));
  return archive;
}

async function readLastBuild(record: string): Promise<LastBuild | undefined> {
  try {
    return JSON.parse(await readFile(record, 'utf8')) as LastBuild;
  } catch {
    return undefined;
  }
}

async function imageId(engine: Engine, signal: AbortSignal): Promise<string> {
  const format = ['images', '--quiet', '--no-trunc', OPERATOR_IMAGE];
  return (await runEngine(engine, format, undefined, signal)).replace('sha256:', '');
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
