import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { execa } from 'execa';
import { withBuildLock } from '../control-plane/build-lock.ts';
import { freePorts } from '../control-plane/free-ports.ts';
import { buildGoProgram, isPresent } from '../control-plane/go-programs.ts';

const VERSION = '0.20.6';
const PROGRAM = {
  name: 'registry',
  moduleDir: join(import.meta.dirname, 'go'),
  packagePath: 'github.com/google/go-containerregistry/cmd/registry',
  linkerFlags: ['-s', '-w'],
  buildSeconds: 15,
};
const POLL_MS = 100;

/** A registry of images on loopback, which forgets everything at its end. */
export class Registry implements AsyncDisposable {
  /** `localhost:PORT`. */
  readonly host: string;
  readonly #stop: () => Promise<void>;

  private constructor(host: string, stop: () => Promise<void>) {
    this.host = host;
    this.#stop = stop;
  }

  static async start(signal: AbortSignal): Promise<Registry> {
    const file = await program(signal);
    const [port = 0] = await freePorts(1);
    const child = execa(file, ['-port', String(port)], { reject: false, all: true, stdin: 'ignore' });
    let isEnded = false;
    const ended = child.finally(() => {
      isEnded = true;
    });
    const host = `localhost:${port}`;
    const stop = async (): Promise<void> => {
      child.kill();
      await ended;
    };
    while (!(await isReady(host))) {
      if (isEnded) throw new Error(`The registry ended: ${(await child).all}`);
      await systemClock.sleep(POLL_MS, signal);
    }
    return new Registry(host, stop);
  }

  /** Bytes of all layers of an image, as they are stored. */
  async packedBytes(image: string): Promise<number> {
    const [, repository, digest] = /^[^/]+\/(.*)@(sha256:.*)$/.exec(image) ?? [];
    const response = await fetch(`http://${this.host}/v2/${repository}/manifests/${digest}`, {
      headers: { Accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    const { layers } = (await response.json()) as { readonly layers: readonly { readonly size: number }[] };
    return layers.reduce((sum, { size }) => sum + size, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

async function isReady(host: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${host}/v2/`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function program(signal: AbortSignal): Promise<string> {
  const directory = join(cacheDirectory(process.env, homedir()), `registry-${VERSION}`);
  const target = join(directory, 'registry');
  await mkdir(directory, { recursive: true });
  await withBuildLock(
    `${target}.lock`,
    { clock: systemClock },
    async () => {
      if (!(await isPresent(target))) await buildGoProgram(PROGRAM, target, signal);
    },
    signal,
  );
  return target;
}
