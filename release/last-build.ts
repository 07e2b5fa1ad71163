import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, imageStore, runEngine } from './engine.ts';
import { digestOfImageSources } from './image-sources.ts';

/** To compare all layers with an unchanged tree takes buildah 15 s of CPU time. */
export class LastBuild {
  readonly #engine: Engine;
  readonly #image: string;
  readonly #sources: string;
  readonly #file: string;

  private constructor(engine: Engine, image: string, sources: string, file: string) {
    this.#engine = engine;
    this.#image = image;
    this.#sources = sources;
    this.#file = file;
  }

  /**
   * @param args of the build, the Node that runs it is in its bases
   */
  static async of(
    engine: Engine,
    checkout: string,
    image: string,
    args: readonly string[],
  ): Promise<LastBuild> {
    const sources = await digestOfImageSources(checkout, [process.version, ...args]);
    const key = createHash('sha256').update(`${checkout} ${image}`).digest('hex');
    return new LastBuild(engine, image, sources, join(imageStore(), `last-build-${key}`));
  }

  /** Whether the image of this name was built from the same files with the same arguments. */
  async isSame(signal: AbortSignal): Promise<boolean> {
    const last = await readFile(this.#file, 'utf8').catch(() => '');
    if (!last.startsWith(`${this.#sources} `)) return false;
    const id = await imageId(this.#engine, this.#image, signal).catch(() => undefined);
    signal.throwIfAborted();
    return last === `${this.#sources} ${id}`;
  }

  /** Notes that the image is built. */
  async note(signal: AbortSignal): Promise<void> {
    await writeFile(this.#file, `${this.#sources} ${await imageId(this.#engine, this.#image, signal)}`);
  }
}

/** @throws Error when there is no image of this name */
export async function imageId(engine: Engine, image: string, signal: AbortSignal): Promise<string> {
  const list = ['images', '--quiet', '--no-trunc', image];
  return (await runEngine(engine, list, undefined, signal)).replace('sha256:', '');
}
