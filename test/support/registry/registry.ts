import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { freePorts } from '../control-plane/free-ports.ts';
import { GuardedProcess } from '../control-plane/guarded-process.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';
import { ensureBuilt, type FindOptions } from '../control-plane/programs.ts';

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
    const file = await findRegistry({ env: process.env, onProgress: ignore }, signal);
    const [port = 0] = await freePorts(1);
    const directory = await mkdtemp(join(tmpdir(), 'registry-'));
    const guard = ProcessGuard.start(directory);
    const host = `localhost:${port}`;
    const server = await GuardedProcess.start({
      name: 'registry',
      file,
      args: ['-port', String(port)],
      cwd: directory,
      logFile: join(directory, 'log'),
      guard,
    });
    const stop = async (): Promise<void> => await guard.close();
    while (!(await isReady(host))) {
      if (!server.isRunning) {
        const reason = server.logTail;
        await stop();
        throw new Error(`The registry exited: ${reason}`);
      }
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

/** The registry: cached, else built from its Go module. Throws when that does not work. */
export async function findRegistry(options: FindOptions, signal: AbortSignal): Promise<string> {
  const target = join(cacheDirectory(options.env, homedir()), `registry-${VERSION}`, 'registry');
  await ensureBuilt(PROGRAM, target, options, signal);
  return target;
}

function ignore(): void {}
