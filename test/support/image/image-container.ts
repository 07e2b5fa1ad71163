import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltImage } from '../../../release/build-image.ts';
import { runEngine } from '../../../release/engine.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

type ImageName = Pick<BuiltImage, 'engine' | 'name'>;

/** An image unpacked by buildah, whose programs run in a chroot. */
export class ImageContainer implements AsyncDisposable {
  readonly #image: ImageName;
  readonly #name: string;
  /** Where its files are on this machine. */
  readonly root: string;

  readonly #guard: ProcessGuard;

  private constructor(image: ImageName, name: string, root: string, guard: ProcessGuard) {
    this.#image = image;
    this.#guard = guard;
    this.#name = name;
    this.root = root;
  }

  static async create(image: ImageName): Promise<ImageContainer> {
    const signal = new AbortController().signal;
    const name = `addon-operator-test-${randomUUID()}`;
    const directory = await mkdtemp(join(tmpdir(), 'image-container-'));
    const settings = Object.entries(image.engine.env).map(([key, value]) => `${key}='${value}'`);
    // Also when the tests are killed.
    const remove = `env ${settings.join(' ')} buildah rm ${name} >/dev/null 2>&1`;
    const guard = ProcessGuard.start(directory, remove);
    try {
      const from = ['from', '--pull-never', '--name', name, image.name];
      await runEngine(image.engine, from, undefined, signal);
      const root = await runEngine(image.engine, ['mount', name], undefined, signal);
      return new ImageContainer(image, name, root, guard);
    } catch (error) {
      await guard.close();
      throw error;
    }
  }

  /** A path of the image on this machine. */
  path(path: string): string {
    return join(this.root, path);
  }

  /** What a command prints as the user of the image. */
  async run(...command: readonly string[]): Promise<string> {
    const signal = new AbortController().signal;
    return await runEngine(this.#image.engine, ['run', this.#name, '--', ...command], undefined, signal);
  }

  async config(): Promise<ImageConfig> {
    const signal = new AbortController().signal;
    const args = ['inspect', '--type', 'image', this.#image.name];
    const text = await runEngine(this.#image.engine, args, undefined, signal);
    return (JSON.parse(text) as { OCIv1: { config: ImageConfig } }).OCIv1.config;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#guard.close();
  }
}
