import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltImage } from '../../../release/build-image.ts';
import { run, runEngine } from '../../../release/engine.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[] | null;
  readonly Env: readonly string[];
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

  /** @param isRemoved whether the image is removed with the container; default false */
  static async create(image: ImageName, isRemoved = false): Promise<ImageContainer> {
    const signal = new AbortController().signal;
    const name = `addon-operator-test-${randomUUID()}`;
    const directory = await mkdtemp(join(tmpdir(), 'image-container-'));
    const settings = Object.entries(image.engine.env).map(([key, value]) => `${key}='${value}'`);
    // Also when the tests are killed.
    const buildah = `env ${settings.join(' ')} buildah`;
    const remove = `{ ${buildah} rm ${name}; ${isRemoved ? `${buildah} rmi ${image.name};` : ''} } >/dev/null 2>&1`;
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

  /**
   * What a command prints as the user of the image, with its environment. In a chroot of its own:
   * buildah passes the output of its commands through pipes of its own, and may end before it is read.
   */
  async run(...command: readonly string[]): Promise<string> {
    return await this.#chroot(command, []);
  }

  /** Runs a command as the engine does, with the network of this machine. */
  async runByEngine(...command: readonly string[]): Promise<void> {
    const signal = new AbortController().signal;
    await runEngine(this.#image.engine, ['run', this.#name, '--', ...command], undefined, signal);
  }

  /** As {@link run}, with a root file system that is read-only but for /tmp, as in a pod with `readOnlyRootFilesystem`. */
  async runReadOnly(...command: readonly string[]): Promise<string> {
    return await this.#chroot(command, [
      'mount -o remount,bind,ro "$root"',
      'mount -t tmpfs tmpfs "$root/tmp"',
    ]);
  }

  async #chroot(command: readonly string[], mounts: readonly string[]): Promise<string> {
    const { root } = this;
    const { Env, User } = await this.config();
    const steps = [
      'root=$1; user=$2; shift 2',
      'mount --bind "$root" "$root"',
      ...mounts,
      'mount -t proc proc "$root/proc"',
      'mount --rbind /dev "$root/dev"',
      'exec chroot --userspec="$user" "$root" env --ignore-environment "$@"',
    ];
    const args = ['--mount', 'sh', '-euc', steps.join('\n'), 'sh', root, User, ...Env, ...command];
    return await run('unshare', args, {}, new AbortController().signal);
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
