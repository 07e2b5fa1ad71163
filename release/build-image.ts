import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { withBuildLock } from '../test/support/control-plane/build-lock.ts';
import { type Engine, type EngineName, findEngine, imageStore, run, runEngine } from './engine.ts';
import { LastBuild } from './last-build.ts';
import { LOCAL_BASES, makeLocalBases } from './local-bases.ts';
import { pruneLayers, stepResult } from './prune-layers.ts';

const projectRoot = join(import.meta.dirname, '..');
/** Answers everyone, with or without permission. */
const REGISTRY = 'https://registry-1.docker.io/v2/';
const REGISTRY_LIMIT_MS = 5000;

export interface ImageOptions {
  /** Name with tag; default `addon-operator:latest`. buildah puts `localhost/` before a name without a host. */
  readonly tag?: string;
  /** No other checkout builds an image of this name; it is removed by a later build when the checkout is gone. */
  readonly isOfCheckout?: boolean;
  /** Default: the first of docker, podman and buildah that works. */
  readonly engine?: EngineName;
  /** Default 4. */
  readonly helmMajor?: 3 | 4;
  /** Image that this one is built on, with the apt of Debian trixie or newer; default `debian:trixie-slim`. */
  readonly from?: string;
  /** Debian packages that hooks need besides: `python3`, `gettext-base`. */
  readonly extraPackages?: readonly string[];
  /** Takes packages as they were at this time, such as `20261101T000000Z`; default: as they are today. */
  readonly debianSnapshot?: string;
  /** Where the bases come from; default: the registry where one is reached, else made here (buildah only). */
  readonly bases?: 'registry' | 'local';
  /** Builds every layer again, with this time in it and in its files, so that the same sources give the same bytes. */
  readonly timestampSeconds?: number;
  /** Has buildah compare all layers, also when no file has changed since the last build. */
  readonly comparesLayers?: boolean;
  readonly onProgress: (message: string) => void;
  /** Each line that the engine prints. */
  readonly onLine?: (line: string) => void;
}

export interface BuiltImage {
  readonly engine: Engine;
  /** Name with tag, as the engine knows it. */
  readonly name: string;
  readonly durationMs: number;
}

/**
 * Builds the image of the operator from this checkout. Layers are cached, and an unchanged tree takes a second. In the storage of
 * buildah only the layers of the newest build of each image are kept.
 *
 * @throws Error when no engine works, the bases cannot be had, or the build fails, with its last lines
 */
export async function buildImage(options: ImageOptions, signal: AbortSignal): Promise<BuiltImage> {
  const { onProgress, onLine } = options;
  const startedMs = systemClock.steadyMs();
  const engine = await findEngine(options.engine, signal);
  const bases = options.bases ?? ((await isRegistryReached(signal)) ? 'registry' : 'local');
  onProgress(
    `building with ${engine.name}, bases ${bases === 'local' ? 'made here' : 'from the registry'} (about 90 s the first time)`,
  );
  const name = imageName(engine, options.tag ?? 'addon-operator:latest');
  const args = await buildArguments(engine, bases, name, options, signal);
  const last = engine.name === 'buildah' ? await LastBuild.of(engine, projectRoot, name, args) : undefined;
  const isRepeated = options.comparesLayers === true || options.timestampSeconds !== undefined;
  const build = async (): Promise<void> => {
    if (!isRepeated && (await last?.isSame(signal)) === true) return;
    if (engine.name === 'buildah') await removeInterrupted(engine, signal);
    if (bases === 'local') await prepareLocalBases(engine, onProgress, signal);
    const steps = new Set<string>();
    const readLine = (line: string): void => {
      onLine?.(line);
      const step = stepResult(line);
      if (step !== undefined) steps.add(step);
    };
    await runEngine(engine, args, readLine, signal);
    if (last === undefined) return;
    await last.note(signal);
    const { isOfCheckout = false } = options;
    await pruneLayers(
      engine,
      { checkout: projectRoot, image: name, isOfCheckout, steps: [...steps] },
      signal,
    );
  };
  await (engine.name === 'buildah' ? alone(build, onProgress, signal) : build());
  return { engine, name, durationMs: systemClock.steadyMs() - startedMs };
}

/** A build that waits for another one finds its layers. */
async function alone(
  build: () => Promise<void>,
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const onWait = (pid: number): void => onProgress(`waiting for process ${pid}, which builds an image`);
  const lock = join(imageStore(), 'build.lock');
  await withBuildLock(lock, { clock: systemClock, onWait }, build, signal);
}

/** Containers of builds that were killed; the lock says that none is running. */
async function removeInterrupted(engine: Engine, signal: AbortSignal): Promise<void> {
  const names = await runEngine(engine, ['containers', '--format', '{{.ContainerName}}'], undefined, signal);
  const left = names.split('\n').filter((name) => /-working-container(?:-\d+)?$/.test(name));
  if (left.length > 0) await runEngine(engine, ['rm', ...left], undefined, signal);
}

/** Writes the image as an archive that `docker load`, `podman load` and `ctr images import` read. */
export async function saveImage(
  { engine, name }: Pick<BuiltImage, 'engine' | 'name'>,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  await rm(file, { force: true });
  const args =
    engine.name === 'buildah'
      ? ['push', '--quiet', name, `docker-archive:${file}:${name}`]
      : ['save', '--output', file, name];
  await runEngine(engine, args, undefined, signal);
}

async function prepareLocalBases(
  engine: Engine,
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (engine.name !== 'buildah') {
    throw new Error(
      `${engine.name} needs a registry for debian:trixie-slim and node:24-trixie-slim, and ${REGISTRY} cannot be reached: use --engine buildah, which can make them here`,
    );
  }
  await makeLocalBases(engine, onProgress, signal);
}

async function buildArguments(
  engine: Engine,
  bases: 'registry' | 'local',
  name: string,
  options: ImageOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const values: Record<string, string> = {
    ...(bases === 'local' ? LOCAL_BASES : {}),
    ...(options.from === undefined ? {} : { DEBIAN_IMAGE: options.from }),
    HELM_MAJOR: String(options.helmMajor ?? 4),
    EXTRA_PACKAGES: options.extraPackages?.join(' ') ?? '',
    VERSION: version,
    ...(options.debianSnapshot === undefined ? {} : { DEBIAN_SNAPSHOT: options.debianSnapshot }),
  };
  const isBuildah = engine.name === 'buildah';
  return [
    'build',
    ...Object.entries(values).map(([key, value]) => `--build-arg=${key}=${value}`),
    // Not as an argument of the Dockerfile: buildah and podman take a cached step whatever its arguments are.
    `--label=org.opencontainers.image.revision=${await revision(signal)}`,
    ...(isBuildah ? ['--layers'] : []),
    ...(isBuildah && bases === 'local' ? ['--pull-never'] : []),
    ...timestampArguments(engine, options.timestampSeconds),
    '--tag',
    name,
    projectRoot,
  ];
}

function timestampArguments({ name }: Engine, seconds: number | undefined): string[] {
  if (seconds === undefined) return [];
  if (name === 'docker') return ['--no-cache', `--build-arg=SOURCE_DATE_EPOCH=${seconds}`];
  return ['--no-cache', '--timestamp', String(seconds)];
}

/** The commit of the checkout; with changes on top it is marked, without git it is unknown. */
export async function revision(signal: AbortSignal): Promise<string> {
  try {
    const git = async (...args: string[]): Promise<string> =>
      await run('git', ['-C', projectRoot, ...args], {}, signal);
    const commit = await git('rev-parse', 'HEAD');
    return (await git('status', '--porcelain', '--untracked-files=no')) === ''
      ? commit
      : `${commit}-modified`;
  } catch {
    signal.throwIfAborted();
    return 'unknown';
  }
}

function imageName({ name }: Engine, tag: string): string {
  const host = tag.includes('/') ? tag.split('/')[0] : undefined;
  const hasHost = host !== undefined && /[.:]|^localhost$/.test(host);
  return name === 'docker' || hasHost ? tag : `localhost/${tag}`;
}

async function isRegistryReached(signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(REGISTRY_LIMIT_MS)]);
    const response = await fetch(REGISTRY, { signal: limit });
    await response.body?.cancel();
    return response.ok || response.status === 401;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
