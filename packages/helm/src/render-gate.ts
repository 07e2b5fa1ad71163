// Lets the operator decide about a rendering inside one run of helm. Helm renders the chart and starts a
// post-renderer, a shell script that passes the manifest on through a file and waits at a named pipe. The
// operator reads it, compares it with the last release, and answers: `apply`, with the manifest that helm
// shall use, or `cancel`, upon which helm fails without having changed anything. So a module is rendered
// once, not once to compare and once to deploy.

import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import type { HelmBinary } from './find-helm.ts';

/** The decision about a rendering, which helm waits for. */
export type GateVerdict = { readonly type: 'apply'; readonly manifest: string } | { readonly type: 'cancel' };

/** Decides with what helm rendered how it continues. */
export type Decide = (rendered: string) => Promise<GateVerdict>;

const PLUGIN = 'addon-operator-gate';
const MKFIFO_LIMIT_MS = 10_000;
const { O_RDWR, O_NONBLOCK } = constants;

/**
 * The post-renderer: hands over what helm rendered, and waits for what is to be applied. Everything it needs is in
 * every POSIX shell; starting a Node here would cost helm half as much time again.
 */
const SCRIPT = `umask 077
cat >"$1/rendered" || exit 1
echo ready >"$1/ready" || exit 1
read -r verdict <"$1/verdict" || exit 1
if [ "$verdict" != apply ]; then
  echo "stopped by addon-operator after rendering" >&2
  exit 1
fi
exec cat "$1/labelled"
`;

/** Writes what helm needs to start the post-renderer, once for all gates. */
export class RenderGateScript {
  /** To be the `HELM_PLUGINS` of helm. */
  readonly pluginsDir: string;
  readonly #path: string;

  private constructor(path: string, pluginsDir: string) {
    this.#path = path;
    this.pluginsDir = pluginsDir;
  }

  static async install(workDir: string, helm: HelmBinary): Promise<RenderGateScript> {
    const path = join(workDir, 'post-renderer.sh');
    const pluginsDir = join(workDir, `plugins-${helm.major}`);
    await mkdir(join(pluginsDir, helm.major === 4 ? PLUGIN : ''), { recursive: true });
    await writeFile(path, SCRIPT, { mode: 0o600 });
    if (helm.major === 4) await writeFile(join(pluginsDir, PLUGIN, 'plugin.yaml'), plugin(path));
    return new RenderGateScript(path, pluginsDir);
  }

  /** Arguments that make helm go through the gate in `directory`. */
  arguments(helm: HelmBinary, directory: string): string[] {
    const ways = helm.major === 4 ? [PLUGIN] : ['sh', '--post-renderer-args', this.#path];
    return ['--post-renderer', ...ways, '--post-renderer-args', directory];
  }
}

/** helm 4 takes no executable, only a plugin. JSON is YAML. */
function plugin(scriptPath: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    type: 'postrenderer/v1',
    name: PLUGIN,
    version: '1.0.0',
    runtime: 'subprocess',
    runtimeConfig: { platformCommand: [{ command: 'sh', args: [scriptPath] }] },
  });
}

/**
 * A stop in the middle of one helm run: helm has rendered, has written nothing yet, and waits. So what it is about to
 * apply can be labelled, checked and compared, and the run can still be called off without a trace.
 */
export class RenderGate {
  readonly directory: string;
  readonly #ready: Socket;
  readonly #verdictFd: number;

  private constructor(directory: string, ready: Socket, verdictFd: number) {
    this.directory = directory;
    this.#ready = ready;
    this.#verdictFd = verdictFd;
  }

  /**
   * Opens a gate in an empty directory that no other user can read. `path` is the `PATH` that `mkfifo` is found in, `pipes`
   * names further named pipes to make there.
   */
  static async open(
    directory: string,
    {
      runner,
      path,
      pipes = [],
    }: { readonly runner: ProcessRunner; readonly path: string; readonly pipes?: readonly string[] },
    signal: AbortSignal,
  ): Promise<RenderGate> {
    const [ready, verdict] = [join(directory, 'ready'), join(directory, 'verdict')];
    const others = pipes.map((name) => join(directory, name));
    await makeFifos([ready, verdict, ...others], { runner, path, directory }, signal);
    // For reading and writing at once: such an open, and a short write, never wait for the other side.
    const verdictFd = openSync(verdict, O_RDWR | O_NONBLOCK);
    const readyFd = openSync(ready, O_RDWR | O_NONBLOCK);
    return new RenderGate(directory, new Socket({ fd: readyFd, readable: true, writable: false }), verdictFd);
  }

  /**
   * Runs helm through the gate, then closes the gate. `decide` gets the rendering and returns how helm continues; when
   * it throws, the run is called off and its error is thrown here once helm has ended.
   */
  async pass<Result>(runHelm: () => Promise<Result>, decide: Decide): Promise<Result> {
    let failure: { readonly error: unknown } | undefined;
    let deciding = Promise.resolve();
    const settle = (decision: Decide): void => {
      deciding = this.#decide(decision).catch((error: unknown) => {
        failure = { error };
      });
    };
    this.#ready.once('data', () => settle(decide));
    this.#ready.once('error', (error) =>
      settle(() => {
        throw error;
      }),
    );
    try {
      const result = await runHelm();
      await deciding;
      if (failure !== undefined) throw failure.error;
      return result;
    } finally {
      await deciding;
      this.#ready.destroy();
      closeSync(this.#verdictFd);
    }
  }

  async #decide(decide: Decide): Promise<void> {
    let verdict: GateVerdict = { type: 'cancel' };
    try {
      verdict = await decide(await readFile(join(this.directory, 'rendered'), 'utf8'));
      if (verdict.type === 'apply') {
        await writeFile(join(this.directory, 'labelled'), verdict.manifest, { mode: 0o600 });
      }
    } catch (error) {
      verdict = { type: 'cancel' };
      throw error;
    } finally {
      writeSync(this.#verdictFd, `${verdict.type}\n`);
    }
  }
}

async function makeFifos(
  paths: readonly string[],
  where: { readonly runner: ProcessRunner; readonly path: string; readonly directory: string },
  signal: AbortSignal,
): Promise<void> {
  const result = await where.runner.run(
    {
      file: 'mkfifo',
      args: ['-m', '600', ...paths],
      cwd: where.directory,
      env: { PATH: where.path },
      timeoutMs: MKFIFO_LIMIT_MS,
      graceMs: 0,
    },
    signal,
  );
  if (result.outcome.type === 'exited' && result.outcome.exitCode === 0) return;
  throw new OperatorError(
    'HELM_FAILED',
    `Cannot prepare a helm run: mkfifo in "${where.directory}" failed (${result.stderr.trim() || result.outcome.type})`,
  );
}
