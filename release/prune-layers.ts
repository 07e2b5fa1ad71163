import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, imageStore, runEngine } from './engine.ts';

/** Images that one command removes. */
const AT_ONCE = 20;

/** The newest build of an image from a checkout. */
interface Build {
  readonly checkout: string;
  /** Name with tag. */
  readonly image: string;
  /** Whether no other checkout has an image of this name: it is removed when the checkout is gone. */
  readonly isOfCheckout: boolean;
  /** Beginnings of the ids of all images that it used or made, one for each step. */
  readonly steps: readonly string[];
}

/** The ids that buildah prints in a line of a build, behind the step that has one as its result. */
export function stepResult(line: string): string | undefined {
  return /^(?:\[\d+\/\d+\] )?--> (?:Using cache )?([0-9a-f]{11,64})$/.exec(line.trimEnd())?.[1];
}

/**
 * Removes layers from the storage of buildah that no newest build uses: one is kept for each image and checkout, until the image
 * or the checkout is removed. Nothing is done when the build is the same as the one before it, or when its steps are not known.
 * The caller holds the lock of builds.
 */
export async function pruneLayers(engine: Engine, build: Build, signal: AbortSignal): Promise<void> {
  const file = join(imageStore(), 'builds.json');
  const before = await readBuilds(file);
  const isSame = (other: Build): boolean => other.checkout === build.checkout && other.image === build.image;
  const previous = before.find(isSame);
  if (build.steps.length === 0 || previous?.steps.join() === build.steps.join()) return;
  const images = await listImages(engine, signal);
  const names = new Set(images.flatMap(({ name }) => name ?? []));
  const kept = [build];
  const abandoned: string[] = [];
  for (const other of before) {
    if (isSame(other) || !names.has(other.image)) continue;
    if (await isThere(other.checkout)) kept.push(other);
    else if (other.isOfCheckout) abandoned.push(other.image);
  }
  await writeFile(file, `${JSON.stringify(kept)}\n`);
  const unused = [
    ...abandoned,
    ...unusedImages(
      images,
      kept.flatMap(({ steps }) => steps),
    ),
  ];
  for (let at = 0; at < unused.length; at += AT_ONCE) {
    try {
      await runEngine(engine, ['rmi', ...unused.slice(at, at + AT_ONCE)], undefined, signal);
    } catch {
      // With an image its unused parents go as well, and images that containers use stay until the next change.
      signal.throwIfAborted();
    }
  }
}

interface StoredImage {
  readonly id: string;
  /** Undefined for a layer of the cache. */
  readonly name: string | undefined;
}

/** Ids of images without a name that are no result of these steps, in the order of the list, which is from new to old. */
export function unusedImages(images: readonly StoredImage[], steps: readonly string[]): readonly string[] {
  return images
    .filter(({ id, name }) => name === undefined && !steps.some((step) => id.startsWith(step)))
    .map(({ id }) => id);
}

async function listImages(engine: Engine, signal: AbortSignal): Promise<readonly StoredImage[]> {
  const args = ['images', '--all', '--no-trunc', '--format', '{{.ID}} {{.Name}}:{{.Tag}}'];
  const text = await runEngine(engine, args, undefined, signal);
  return text.split('\n').flatMap((line) => {
    // Columns are padded with spaces.
    const [, id, name] = /^(?:sha256:)?([0-9a-f]{64})\s+(\S+)\s*$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id, name: name === '<none>:<none>' ? undefined : name }];
  });
}

async function readBuilds(file: string): Promise<readonly Build[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as readonly Build[];
  } catch {
    return [];
  }
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
