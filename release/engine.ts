import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { cacheDirectory } from '../src/tools/pinned-tools/cache-directory.ts';

export const ENGINE_NAMES = ['docker', 'podman', 'buildah'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

type Env = Readonly<Record<string, string>>;

/** A container engine of this machine. */
export interface Engine {
  readonly name: EngineName;
  /** What its commands need besides this process's environment. */
  readonly env: Env;
}

/** Cannot answer without a daemon (docker) or without permissions (podman, buildah). */
const PROBES: Readonly<Record<EngineName, readonly string[]>> = {
  docker: ['version', '--format', '{{.Server.Version}}'],
  podman: ['info', '--format', '{{.Version.Version}}'],
  buildah: ['containers', '--quiet'],
};
const PROBE_LIMIT_MS = 30_000;

/**
 * The first engine that works here, or the named one.
 *
 * @throws Error when none works; the message says why for each
 */
export async function findEngine(wanted: EngineName | undefined, signal: AbortSignal): Promise<Engine> {
  const failures: string[] = [];
  for (const name of wanted === undefined ? ENGINE_NAMES : [wanted]) {
    const env = name === 'buildah' ? await buildahEnv() : {};
    const probe = await execa(name, PROBES[name], {
      env,
      reject: false,
      stdin: 'ignore',
      timeout: PROBE_LIMIT_MS,
      cancelSignal: signal,
    });
    if (!probe.failed) return { name, env };
    const reason =
      probe.code === 'ENOENT' ? 'not installed' : lastLine(probe.stderr || (probe.shortMessage ?? 'failed'));
    failures.push(`${name}: ${reason}`);
  }
  throw new Error(
    `No container engine can build the image (${failures.join('; ')}). Install one; as root on Debian: apt-get install --no-install-recommends buildah mmdebstrap`,
  );
}

/** Where buildah keeps bases, layers and images of this project, apart from those of the user. */
export function imageStore(): string {
  return join(cacheDirectory(process.env, homedir()), 'image');
}

/** A storage of its own, and no namespaces but a chroot for commands: works in containers and without a registry. */
async function buildahEnv(): Promise<Env> {
  const store = imageStore();
  const file = join(store, 'storage.conf');
  await mkdir(store, { recursive: true });
  const lines = [
    '[storage]',
    'driver = "overlay"',
    `graphroot = "${join(store, 'storage')}"`,
    `runroot = "${join(store, 'run')}"`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return { CONTAINERS_STORAGE_CONF: file, BUILDAH_ISOLATION: 'chroot' };
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Env;
  /** Lines that the command prints; they are in the error as well, when it fails. */
  readonly onLine?: (line: string) => void;
  /** Returns standard error as well. */
  readonly all?: boolean;
}

/**
 * Standard output of a command.
 *
 * @throws Error when it fails, with the last lines that it printed
 */
export async function run(
  file: string,
  args: readonly string[],
  { cwd, env, onLine, all = false }: RunOptions,
  signal: AbortSignal,
): Promise<string> {
  const child = execa(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    all: true,
    reject: false,
    stdin: 'ignore',
    cancelSignal: signal,
  });
  if (onLine !== undefined) for await (const line of child.iterable({ from: 'all' })) onLine(line);
  const result = await child;
  signal.throwIfAborted();
  if (result.failed) {
    const reason = result.exitCode === undefined ? result.shortMessage : `exit code ${result.exitCode}`;
    const tail = result.all.split('\n').slice(-15).join('\n');
    throw new Error(`${[file, ...args.slice(0, 2)].join(' ')} failed (${reason}):\n${tail}`);
  }
  return all ? result.all : result.stdout;
}

/** Runs a command of the engine. */
export async function runEngine(
  engine: Engine,
  args: readonly string[],
  onLine: ((line: string) => void) | undefined,
  signal: AbortSignal,
): Promise<string> {
  const options = { env: engine.env, ...(onLine === undefined ? {} : { onLine }) };
  return await run(engine.name, args, options, signal);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
