import { join } from 'node:path';
import type { BuiltImage } from '../../../release/build-image.ts';
import { runEngine } from '../../../release/engine.ts';

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** An image unpacked by buildah, whose programs run in a chroot. */
export class ImageContainer implements AsyncDisposable {
  readonly #image: BuiltImage;
  readonly #name: string;
  /** Where its files are on this machine. */
  readonly root: string;

  private constructor(image: BuiltImage, name: string, root: string) {
    this.#image = image;
    this.#name = name;
    this.root = root;
  }

  static async create(image: BuiltImage): Promise<ImageContainer> {
    const signal = new AbortController().signal;
    const name = await runEngine(image.engine, ['from', '--pull-never', image.name], undefined, signal);
    const root = await runEngine(image.engine, ['mount', name], undefined, signal);
    return new ImageContainer(image, name, root);
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
    await runEngine(this.#image.engine, ['rm', this.#name], undefined, new AbortController().signal);
  }
}
