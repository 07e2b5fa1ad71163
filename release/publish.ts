import { appendFile, cp, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { cacheDirectory } from '../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../src/tools/pinned-tools/pinned-tools.ts';
import { type BuiltImage, buildImage, type ImageOptions } from './build-image.ts';
import { run, runEngine } from './engine.ts';

const projectRoot = join(import.meta.dirname, '..');
/** A fifth smaller than gzip; containerd 1.5, CRI-O 1.21 and Docker 23 unpack it. */
const PACKING = ['--compression-format', 'zstd', '--compression-level', '8'];
const CHART = join(projectRoot, 'deploy/addon-operator');

export interface ReleaseOptions
  extends Pick<
    ImageOptions,
    'engine' | 'bases' | 'helmMajor' | 'extraPackages' | 'debianSnapshot' | 'onProgress' | 'onLine'
  > {
  /** Host and path, such as `registry.example.com/team`. */
  readonly registry: string;
  /** Speaks HTTP with the registry. */
  readonly isPlainHttp: boolean;
  /** Address of the repository with the sources, where the tag `vVERSION` is this release: alerts link to its runbooks. */
  readonly home: string | undefined;
  /** Publishes a tree with changes that are not committed, for trying out; otherwise that is an error. */
  readonly allowsChanges: boolean;
}

/** An artifact in the registry. */
export interface Published {
  /** `registry.example.com/team/addon-operator@sha256:…` */
  readonly image: string;
  /** `oci://registry.example.com/team/charts/addon-operator@sha256:…` */
  readonly chart: string;
}

/**
 * Builds the image and packs the chart, with the time of the commit in both, and pushes them as OCI artifacts.
 *
 * @throws Error for a tree with changes, and when building or pushing fails
 */
export async function publish(options: ReleaseOptions, signal: AbortSignal): Promise<Published> {
  const { registry, allowsChanges, onProgress } = options;
  const commit = await commitOf(allowsChanges, signal);
  const version = await versionOf();
  const { registry: _, isPlainHttp: __, allowsChanges: ___, home: ____, ...imageOptions } = options;
  const built = await buildImage(
    { ...imageOptions, tag: `${registry}/addon-operator:${version}`, timestampSeconds: commit.timeSeconds },
    signal,
  );
  onProgress(`pushing ${built.name}`);
  const digest = await pushImage(built, options, signal);
  onProgress(`pushing the chart, version ${version}`);
  const chartDigest = await pushChart(options, version, commit.timeSeconds, signal);
  return {
    image: `${registry}/addon-operator@${digest}`,
    chart: `oci://${registry}/charts/addon-operator@${chartDigest}`,
  };
}

async function commitOf(
  allowsChanges: boolean,
  signal: AbortSignal,
): Promise<{ readonly timeSeconds: number }> {
  const git = async (...args: string[]): Promise<string> =>
    await run('git', ['-C', projectRoot, ...args], {}, signal);
  const changes = await git('status', '--porcelain');
  if (changes !== '' && !allowsChanges) {
    throw new Error(`Cannot publish a tree that differs from its commit; commit or remove:\n${changes}`);
  }
  return { timeSeconds: Number(await git('log', '-1', '--format=%ct')) };
}

async function versionOf(): Promise<string> {
  const text = await readFile(join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Pushes an image, and returns the digest of its manifest in the registry. */
export async function pushImage(
  { engine, name }: Pick<BuiltImage, 'engine' | 'name'>,
  { isPlainHttp, onLine }: Pick<ReleaseOptions, 'isPlainHttp' | 'onLine'>,
  signal: AbortSignal,
): Promise<string> {
  if (engine.name === 'docker') {
    // Whether the registry speaks HTTP is a setting of its daemon.
    await runEngine(engine, ['push', name], onLine, signal);
    const format = '{{range .RepoDigests}}{{println .}}{{end}}';
    const digests = await runEngine(engine, ['inspect', '--format', format, name], undefined, signal);
    return digestIn(digests, name);
  }
  return await inWorkDirectory(async (directory) => {
    const file = join(directory, 'digest');
    const args = [
      'push',
      '--digestfile',
      file,
      `--tls-verify=${!isPlainHttp}`,
      '--format',
      'oci',
      ...PACKING,
    ];
    await runEngine(engine, [...args, name, `docker://${name}`], onLine, signal);
    return digestIn(await readFile(file, 'utf8'), name);
  });
}

/** Packs and pushes the chart, and returns its digest, which depends on nothing but its files, version and time. */
export async function pushChart(
  { registry, isPlainHttp, home }: Pick<ReleaseOptions, 'registry' | 'isPlainHttp' | 'home'>,
  version: string,
  timeSeconds: number,
  signal: AbortSignal,
): Promise<string> {
  return await inWorkDirectory(async (directory) => {
    const archive = join(directory, `addon-operator-${version}.tgz`);
    await writeFile(archive, await packChart(directory, home, timeSeconds, signal));
    // helm notes the time of the file as that of the chart.
    await utimes(archive, timeSeconds, timeSeconds);
    const cacheDir = cacheDirectory(process.env, homedir());
    const helm = await pinnedHelm(4, { cacheDir }, signal);
    const args = ['push', archive, `oci://${registry}/charts`, ...(isPlainHttp ? ['--plain-http'] : [])];
    const child = await run(helm, args, { all: true }, signal);
    return digestIn(child, archive);
  });
}

/** The chart as `helm package` makes it, but with sorted entries and the same time in all of them. */
export async function packChart(
  directory: string,
  home: string | undefined,
  timeSeconds: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const copy = join(directory, 'addon-operator');
  await cp(CHART, copy, { recursive: true });
  if (home !== undefined) await appendFile(join(copy, 'Chart.yaml'), `home: ${JSON.stringify(home)}\n`);
  const tarball = join(directory, 'chart.tar');
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const order = ['--format=ustar', '--sort=name', `--mtime=@${timeSeconds}`];
  const args = [...order, ...owner, '-cf', tarball, '-C', directory, 'addon-operator'];
  await run('tar', args, {}, signal);
  return gzipSync(await readFile(tarball), { level: 9 });
}

function digestIn(text: string, what: string): string {
  const digest = /sha256:[0-9a-f]{64}/.exec(text)?.[0];
  if (digest === undefined) throw new Error(`The push of ${what} reported no digest: ${text}`);
  return digest;
}

async function inWorkDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'release-'));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
