import { copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, imageStore, run, runEngine } from './engine.ts';

const DEBIAN_RELEASE = 'trixie';
export const LOCAL_BASES = {
  DEBIAN_IMAGE: `localhost/debian:${DEBIAN_RELEASE}-slim`,
  NODE_IMAGE: `localhost/node:24-${DEBIAN_RELEASE}-slim`,
} as const;

const NPM = 'npm@11.21.2';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** As the official slim image: no manuals and translations, but licences. */
const LEFT_OUT = ['man', 'doc', 'locale', 'info'].map((name) => `path-exclude=/usr/share/${name}/*`);
const DPKG_OPTIONS = [...LEFT_OUT, 'path-include=/usr/share/doc/*/copyright'];
/** Caches of apt, which it makes again when it needs them. */
const APT_OPTIONS = ['Acquire::Retries "5"', 'Dir::Cache::pkgcache ""', 'Dir::Cache::srcpkgcache ""'];

/**
 * Makes the bases of the Dockerfile where no registry can be reached: Debian from its mirror, and Node from this machine
 * with npm. Nothing of the second gets into the image. Takes 40 s; images that are there are kept.
 */
export async function makeLocalBases(
  engine: Engine,
  onProgress: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const names = await imageNames(engine, signal);
  if (!names.has(LOCAL_BASES.DEBIAN_IMAGE)) {
    onProgress(`making ${LOCAL_BASES.DEBIAN_IMAGE} with mmdebstrap (about 25 s)`);
    await makeDebian(engine, signal);
  }
  if (!names.has(LOCAL_BASES.NODE_IMAGE)) {
    onProgress(`making ${LOCAL_BASES.NODE_IMAGE} from Node ${process.version} and ${NPM} (about 15 s)`);
    await makeNode(engine, signal);
  }
}

/** Names with tags. Layers are listed as well (`--all`): without them the list takes several times as long. */
async function imageNames(engine: Engine, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const args = ['images', '--all', '--format', '{{.Name}}:{{.Tag}}'];
  return new Set((await runEngine(engine, args, undefined, signal)).split('\n'));
}

async function makeDebian(engine: Engine, signal: AbortSignal): Promise<void> {
  await inWorkDirectory(async (directory) => {
    const tarball = join(directory, 'debian.tar');
    const options = [
      ...DPKG_OPTIONS.map((option) => `--dpkgopt=${option}`),
      ...APT_OPTIONS.map((option) => `--aptopt=${option}`),
    ];
    const args = ['--quiet', '--variant=minbase', ...options, DEBIAN_RELEASE, tarball];
    await run('mmdebstrap', args, {}, signal);
    await commit(engine, 'scratch', [tarball, '/'], ['--cmd', 'bash', '--env', `PATH=${PATH}`], signal);
  });
}

async function makeNode(engine: Engine, signal: AbortSignal): Promise<void> {
  await inWorkDirectory(async (directory) => {
    const root = join(directory, 'root');
    const npm = join(root, 'usr/local/lib/node_modules/npm');
    for (const path of [
      npm,
      join(root, 'usr/local/bin'),
      join(root, 'usr/local/etc'),
      join(root, 'etc/ssl/certs'),
    ])
      await mkdir(path, { recursive: true });
    await copyFile(process.execPath, join(root, 'usr/local/bin/node'));
    await run('npm', ['pack', NPM, '--silent', '--ignore-scripts'], { cwd: directory }, signal);
    const tarball = join(directory, `${NPM.replace('@', '-')}.tgz`);
    await run('tar', ['xzf', tarball, '--strip-components=1', '-C', npm], {}, signal);
    for (const tool of ['npm', 'npx']) {
      await symlink(`../lib/node_modules/npm/bin/${tool}-cli.js`, join(root, 'usr/local/bin', tool));
    }
    // How this machine reaches its registry.
    const registry = await run('npm', ['config', 'get', 'registry'], { cwd: directory }, signal);
    await writeFile(join(root, 'usr/local/etc/npmrc'), `registry=${registry}\n`);
    await cp(CERTIFICATES, join(root, CERTIFICATES));
    const config = ['--cmd', 'node', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`];
    await commit(engine, LOCAL_BASES.DEBIAN_IMAGE, [root, '/'], config, signal);
  });
}

/** Commits a base with files added: as the Debian image from scratch, as the Node image from Debian. */
async function commit(
  engine: Engine,
  from: string,
  files: readonly [source: string, target: string],
  config: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const image = from === 'scratch' ? LOCAL_BASES.DEBIAN_IMAGE : LOCAL_BASES.NODE_IMAGE;
  const container = await runEngine(engine, ['from', '--pull-never', from], undefined, signal);
  try {
    await runEngine(engine, ['add', '--quiet', container, ...files], undefined, signal);
    await runEngine(engine, ['config', ...config, container], undefined, signal);
    await runEngine(engine, ['commit', '--quiet', container, image], undefined, signal);
  } finally {
    await runEngine(engine, ['rm', container], undefined, signal);
  }
}

async function inWorkDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(imageStore(), 'base-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
