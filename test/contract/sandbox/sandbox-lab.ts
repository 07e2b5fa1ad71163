import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { parseJson } from '@addon-operator/json';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { execa } from 'execa';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm, pinnedKubectl } from '../../../src/tools/pinned-tools/pinned-tools.ts';
import { StartedCommand } from '../../support/started-command.ts';

const never = new AbortController().signal;

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory for files, and the real helm and kubectl with a home of their own, pointed at one API server. */
export class ToolBench {
  readonly directory: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(directory: string, env: Readonly<Record<string, string>>) {
    this.directory = directory;
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      KUBECONFIG: join(directory, 'kubeconfig'),
      ...env,
    };
  }

  static async create(kubeconfig: string): Promise<ToolBench> {
    const bench = new ToolBench(await mkdtemp(join(tmpdir(), 'sandbox-tools-')), {});
    await bench.file('kubeconfig', kubeconfig);
    return bench;
  }

  /** The same bench with other variables in the environment of its tools. */
  withEnv(env: Readonly<Record<string, string>>): ToolBench {
    return new ToolBench(this.directory, env);
  }

  /** Writes a file below the directory; returns its path. */
  async file(name: string, text: string): Promise<string> {
    const path = join(this.directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  async helm(major: 3 | 4, ...args: readonly string[]): Promise<CommandResult> {
    return this.#run(await pinnedHelm(major, toolOptions(), never), args);
  }

  async kubectl(...args: readonly string[]): Promise<CommandResult> {
    return this.#run(await pinnedKubectl(toolOptions(), never), args);
  }

  /** A kubectl that goes on until it is ended. */
  async startKubectl(...args: readonly string[]): Promise<StartedCommand> {
    return new StartedCommand(await pinnedKubectl(toolOptions(), never), args, { ...this.#env });
  }

  /** What `kubectl get … -o json` prints. */
  async get(...args: readonly string[]): Promise<unknown> {
    const { stdout } = await this.kubectl('get', ...args, '-o', 'json');
    return parseJson(stdout);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async #run(file: string, args: readonly string[]): Promise<CommandResult> {
    const { exitCode, stdout, stderr } = await execa(file, args, {
      cwd: this.directory,
      env: this.#env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    return { exitCode: exitCode ?? -1, stdout, stderr };
  }
}

function toolOptions(): { readonly cacheDir: string } {
  return { cacheDir: cacheDirectory(process.env, homedir()) };
}

/** A sandbox in memory and a bench that talks to it. */
export interface SandboxLab {
  readonly sandbox: Sandbox;
  readonly bench: ToolBench;
  close(): Promise<void>;
}

export async function openSandboxLab(): Promise<SandboxLab> {
  const sandbox = await startSandbox({ clock: systemClock, log: silentLogger }, never);
  const bench = await ToolBench.create(sandbox.kubeconfig);
  const close = async (): Promise<void> => {
    await sandbox.stop();
    await bench.remove();
  };
  return { sandbox, bench, close };
}
