import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type BuiltImage, buildImage, revision } from '../../release/build-image.ts';
import { runEngine } from '../../release/engine.ts';
import { imageId } from '../../release/last-build.ts';
import { LOCAL_BASES } from '../../release/local-bases.ts';
import { PINNED_HELM_VERSIONS, PINNED_KUBECTL_VERSION } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { furtherNode } from '../support/api-independent.ts';
import { ImageContainer } from '../support/image/image-container.ts';
import { describeImage } from '../support/image/image-suite.ts';
import { JQ_VERSION } from '../support/jq/jq-program.ts';
import {
  builtOperatorImage,
  findOperatorImage,
  imageOptions,
  isArchiveNamed,
} from '../support/node/operator-image.ts';

const MAX_BYTES = 360_000_000;
const STARTS = 5;
const signal = new AbortController().signal;
const onProgress = (message: string): void => console.log(`image: ${message}`);

interface Bom {
  readonly bomFormat: string;
  readonly components: readonly { readonly name: string; readonly version: string; readonly purl: string }[];
}

describeImage('the image of the operator', () => {
  let image: Omit<BuiltImage, 'durationMs'>;
  let archive: string;
  let container: ImageContainer;

  beforeAll(async () => {
    const state = inject('nodeState');
    const isBuilt = state.type === 'available' && !isArchiveNamed(process.env);
    archive = isBuilt ? state.parts.operatorImage : await findOperatorImage({ env: {}, onProgress }, signal);
    image = await builtOperatorImage(signal);
    container = await ImageContainer.create(image);
  });
  afterAll(() => container[Symbol.asyncDispose]());

  test('runs as a user that is not root, under tini, and says what it is', async () => {
    const { User, Entrypoint, Labels } = await container.config();
    expect(User).toBe('65532:65532');
    expect(Entrypoint).toEqual(['/sbin/tini', '--', '/addon-operator']);
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'addon-operator',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': manifest.version,
      'org.opencontainers.image.revision': await revision(signal),
    });
    expect(await container.run('id', '-u')).toBe('65532');
    expect(await container.run('addon-operator', '--version')).toBe(`addon-operator ${manifest.version}`);
    expect(await container.run('/sbin/tini', '--', '/addon-operator', 'version')).toContain(manifest.version);
  });

  test('contains the tools that the tests run with, where hooks look for them', async () => {
    expect(await container.run('/bin/helm', 'version', '--short')).toContain(`v${PINNED_HELM_VERSIONS[4]}`);
    expect(await container.run('/bin/kubectl', 'version', '--client')).toContain(
      `v${PINNED_KUBECTL_VERSION}`,
    );
    expect(await container.run('curl', '--version')).toMatch(/^curl /);
    expect(await container.run('/usr/bin/jq', '--version')).toBe(`jq-${JQ_VERSION}`);
    expect(await container.run('node', '--version')).toBe(process.version);
    const library = 'source /shell_lib.sh && declare -F hook::run';
    expect(await container.run('bash', '-c', library)).toBe('hook::run');
  });

  test('contains no package manager of Node, no history of a shell and no files of the build', async () => {
    const names = ['npm', 'npx', '.*_history', '.npmrc', '*.test.*', 'typescript', 'rolldown'];
    const conditions = names.flatMap((name) => ['-o', '-name', name]).slice(1);
    const { stdout } = await execa('find', [container.root, '-xdev', '(', ...conditions, ')']);
    expect(stdout).toBe('');
  });

  test('can be written by its user only where files are made while it runs', async () => {
    const shown =
      "find / -xdev -writable -not -type l -not -path '/proc/*' -not -path '/sys/*' -not -path '/dev*' 2>/dev/null; true";
    const writable = await container.run('sh', '-c', shown);
    const outside = writable
      .split('\n')
      .filter(
        (path) =>
          !/^\/(?:app\/dist\/\.compile-cache|tmp|var\/tmp|run\/lock|home\/addon-operator)(?:\/|$)/.test(path),
      );
    expect(outside.filter((path) => !/^\/(?:var\/)?run\/addon-operator$/.test(path))).toEqual([]);
  });

  test('lists everything in it', async () => {
    const bom = JSON.parse(
      await readFile(container.path('usr/share/sbom/addon-operator.cdx.json'), 'utf8'),
    ) as Bom;
    expect(bom.bomFormat).toBe('CycloneDX');
    const urls = bom.components.map(({ purl }) => purl);
    const [helm, kubectl, node] = [PINNED_HELM_VERSIONS[4], PINNED_KUBECTL_VERSION, process.versions.node];
    const tools = [`helm@${helm}`, `kubectl@${kubectl}`, `node@${node}`].map((tool) => `pkg:generic/${tool}`);
    expect(urls).toEqual(expect.arrayContaining(tools));
    const packages = await container.run('dpkg-query', '--show', '--showformat', '${Package} ${Version}\\n');
    const listed = bom.components.filter(({ purl }) => purl.startsWith('pkg:deb/'));
    expect(listed.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(
      packages.split('\n').toSorted(),
    );
    const lock = JSON.parse(await readFile('package.json', 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const missing = Object.entries(lock.dependencies)
      .filter(([, version]) => !version.startsWith('file:'))
      .map(([name, version]) => `pkg:npm/${name.replace('@', '%40')}@${version}`)
      .filter((url) => !urls.includes(url));
    expect(missing).toEqual([]);
  });

  test('is small enough', async () => {
    const { size } = await stat(archive);
    onProgress(`${(size / 1e6).toFixed(1)} MB unpacked`);
    expect(size).toBeLessThanOrEqual(MAX_BYTES);
  });

  test('starts with code that was compiled when it was built', async () => {
    const inside = ['chroot', '--userspec=65532:65532', container.root, 'node', '/app/dist/main.js', 'help'];
    const outside = ['node', join(container.root, 'app/dist/main.js'), 'help'];
    const figures: { inside: number; outside: number }[] = [];
    for (let run = 0; run < STARTS; run += 1)
      figures.push({ inside: await cpuSeconds(inside), outside: await cpuSeconds(outside) });
    const median = (name: 'inside' | 'outside') =>
      figures.map((each) => each[name]).toSorted((a, b) => a - b)[2];
    onProgress(`CPU of a start: ${median('inside')} s in the image, ${median('outside')} s outside of it`);
    const compiled = await execa('find', [
      container.path('app/dist/.compile-cache'),
      '-type',
      'f',
      '-user',
      '65532',
    ]);
    expect(compiled.stdout.split('\n').length).toBeGreaterThan(40);
  });

  test('is the same when nothing has changed, without a step that runs again', furtherNode, async () => {
    const id = async () => await imageId(image.engine, image.name, signal);
    const before = await id();
    const lines: string[] = [];
    const options = { ...imageOptions(onProgress), onLine: (line: string) => lines.push(line) };
    const unchanged = await buildImage(options, signal);
    expect(lines).toEqual([]);
    const compared = await buildImage({ ...options, comparesLayers: true }, signal);
    const seconds = ({ durationMs }: BuiltImage) => `${(durationMs / 1000).toFixed(1)} s`;
    onProgress(`unchanged in ${seconds(unchanged)}, all layers compared in ${seconds(compared)}`);
    expect(lines).not.toEqual([]);
    expect(await id()).toBe(before);
    expect(lines.filter((line) => /^(?:Get:|added \d+ packages|fetching )/.test(line))).toEqual([]);
  });

  test('has python3 where it is requested, on the base that is requested', furtherNode, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'base-'));
    const base = 'localhost/addon-operator-test-base:latest';
    await writeFile(
      join(directory, 'Dockerfile'),
      `FROM ${LOCAL_BASES.DEBIAN_IMAGE}\nRUN echo ours >/etc/base-of-company\n`,
    );
    await runEngine(image.engine, ['build', '--pull-never', '--tag', base, directory], undefined, signal);
    await rm(directory, { recursive: true });
    const options = { ...imageOptions(onProgress, ['python3']), bases: 'local', from: base } as const;
    await using other = await ImageContainer.create(await buildImage(options, signal));
    expect(await other.run('python3', '-c', 'print(6 * 7)')).toBe('42');
    expect(await other.run('cat', '/etc/base-of-company')).toBe('ours');
    await expect(container.run('python3', '--version')).rejects.toThrow('python3');
  });
});

/** User and system time of a command. */
async function cpuSeconds(command: readonly string[]): Promise<number> {
  const { stderr } = await execa('bash', [
    '-c',
    'TIMEFORMAT="%U %S"; time "$@" >/dev/null',
    'bash',
    ...command,
  ]);
  const [user = 0, system = 0] = stderr.trim().split('\n').at(-1)?.split(' ').map(Number) ?? [];
  return user + system;
}
