import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildImage, type ImageOptions, saveImage } from './build-image.ts';
import { type EngineName, findEngine } from './engine.ts';
import { pushImage } from './publish.ts';

const DIGEST = `sha256:${'5'.repeat(64)}`;
const NAME = 'registry.example.com/team/addon-operator:1';
const ROOT = join(import.meta.dirname, '..');
const NO_DAEMON = '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n';
const signal = new AbortController().signal;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'engines-'));
  // Without git, so that the revision is unknown.
  vi.stubEnv('PATH', directory);
  vi.stubEnv('ADDON_OPERATOR_CACHE_DIR', join(directory, 'cache'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

describe('the engine', () => {
  test('is the first of docker, podman and buildah that works', async () => {
    await standIn('podman');
    await standIn('buildah');
    await writeProgram('docker', NO_DAEMON);
    expect(await findEngine(undefined, signal)).toEqual({ name: 'podman', env: {} });
    expect(await calls()).toEqual(['podman info --format {{.Version.Version}}']);
  });

  test('is missing with a reason for each, when none works', async () => {
    await writeProgram('docker', NO_DAEMON);
    await expect(findEngine(undefined, signal)).rejects.toThrow(
      '(docker: Cannot connect to the Docker daemon; podman: not installed; buildah: not installed)',
    );
  });

  test('cannot be docker or podman where no registry is reached', async () => {
    await standIn('podman');
    const build = buildImage({ engine: 'podman', bases: 'local', onProgress }, signal);
    await expect(build).rejects.toThrow(/podman needs a registry.*use --engine buildah/);
  });
});

describe('a build, an archive and a push', () => {
  const ARGUMENTS =
    '--build-arg=HELM_MAJOR=4 --build-arg=EXTRA_PACKAGES= VERSION --label=org.opencontainers.image.revision=unknown';
  const PUSH = `push --digestfile DIGEST --tls-verify=false --format oci --compression-format zstd --compression-level 8 ${NAME} docker://${NAME}`;

  test('are these commands of docker', async () => {
    expect(await commandsOf({ engine: 'docker' })).toEqual([
      'docker version --format {{.Server.Version}}',
      `docker build ${ARGUMENTS} --tag ${NAME} ${ROOT}`,
      `docker save --output DIR/image.tar ${NAME}`,
      `docker push ${NAME}`,
      `docker inspect --format {{range .RepoDigests}}{{println .}}{{end}} ${NAME}`,
    ]);
  });

  test('are these commands of podman', async () => {
    expect(await commandsOf({ engine: 'podman' })).toEqual([
      'podman info --format {{.Version.Version}}',
      `podman build ${ARGUMENTS} --tag ${NAME} ${ROOT}`,
      `podman save --output DIR/image.tar ${NAME}`,
      `podman ${PUSH}`,
    ]);
  });

  test('are these commands of buildah', async () => {
    const commands = await commandsOf({ engine: 'buildah' });
    expect(commands.filter((command) => /^buildah (?:build|push) /.test(command))).toEqual([
      `buildah build ${ARGUMENTS} --layers --tag ${NAME} ${ROOT}`,
      `buildah push --quiet ${NAME} docker-archive:DIR/image.tar:${NAME}`,
      `buildah ${PUSH}`,
    ]);
  });

  test.each([
    ['docker', '--no-cache --build-arg=SOURCE_DATE_EPOCH=1700000000'],
    ['podman', '--no-cache --timestamp 1700000000'],
  ] as const)('with a time are built again by %s', async (engine, flags) => {
    const commands = await commandsOf({ engine, timestampSeconds: 1_700_000_000 });
    expect(commands[1]).toBe(`${engine} build ${ARGUMENTS} ${flags} --tag ${NAME} ${ROOT}`);
  });

  test('have the requested helm, packages and snapshot of Debian, and the name that the engine uses', async () => {
    await standIn('docker');
    await standIn('podman');
    const options = {
      tag: 'operator:1',
      helmMajor: 3,
      extraPackages: ['python3', 'curl'],
      debianSnapshot: '20261101T000000Z',
    } as const;
    for (const engine of ['docker', 'podman'] as const)
      await buildImage({ engine, bases: 'registry', onProgress, ...options }, signal);
    const [, docker = '', , podman = ''] = await calls();
    for (const command of [docker, podman]) {
      expect(command).toContain('--build-arg=HELM_MAJOR=3 --build-arg=EXTRA_PACKAGES=python3 curl ');
      expect(command).toContain(' --build-arg=DEBIAN_SNAPSHOT=20261101T000000Z ');
    }
    expect(docker).toContain(' --tag operator:1 ');
    expect(podman).toContain(' --tag localhost/operator:1 ');
  });
});

function onProgress(): void {}

/** An engine that notes its arguments, and prints or writes a digest where one is expected. */
async function standIn(engine: EngineName): Promise<void> {
  const script = `#!/bin/sh
echo "\${0##*/} $*" >>"${directory}/calls"
case "$1 $2" in
  'inspect --format') echo "registry.example.com/team/addon-operator@${DIGEST}" ;;
  'push --digestfile') echo "${DIGEST}" >"$3" ;;
esac
`;
  await writeProgram(engine, script);
}

async function writeProgram(name: string, script: string): Promise<void> {
  await writeFile(join(directory, name), script);
  await chmod(join(directory, name), 0o755);
}

async function calls(): Promise<readonly string[]> {
  return (await readFile(join(directory, 'calls'), 'utf8')).trimEnd().split('\n');
}

/** Builds, saves and pushes an image; paths and the version have names instead of values in what is returned. */
async function commandsOf(
  options: Pick<ImageOptions, 'timestampSeconds'> & { readonly engine: EngineName },
): Promise<readonly string[]> {
  await standIn(options.engine);
  const image = await buildImage({ tag: NAME, bases: 'registry', onProgress, ...options }, signal);
  await saveImage(image, join(directory, 'image.tar'), signal);
  expect(await pushImage(image, { isPlainHttp: true }, signal)).toBe(DIGEST);
  return (await calls()).map((command) =>
    command
      .replaceAll(directory, 'DIR')
      .replace(/--digestfile \S+/, '--digestfile DIGEST')
      .replace(/--build-arg=VERSION=\S+/, 'VERSION'),
  );
}
