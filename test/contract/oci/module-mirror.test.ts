import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRepository } from '@addon-operator/oci/open-repository';
import type { WritableRepository } from '@addon-operator/oci/repository';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliRun, cliRun } from '../../support/cli-run.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { dockerConfigFor } from '../../support/oci/accounts.ts';
import { pushArtifact } from '../../support/oci/artifacts.ts';
import { crane, oras } from '../../support/oci/client-programs.ts';
import { DistributionRegistry } from '../../support/oci/distribution-registry.ts';
import { FaultRegistry } from '../../support/oci/fault-registry.ts';
import { describeRegistries } from '../../support/oci/oci-suite.ts';

const { signal } = new AbortController();
const open = (url: string): WritableRepository => openRepository(url, { clock: new FakeClock() });
const oldTag = (digest: string): string => `${digest.replace(':', '-')}.sig`;

describeRegistries('module mirror', () => {
  let directory: string;
  let withApi: FaultRegistry;
  let without: DistributionRegistry;
  let withAccounts: DistributionRegistry;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mirror-'));
    withApi = await FaultRegistry.start(signal);
    without = await DistributionRegistry.start(signal);
    withAccounts = await DistributionRegistry.start(signal, { auth: 'token' });
    await writeFile(join(directory, 'config.json'), dockerConfigFor(withAccounts.host, 'alice'));
    for (const url of [withApi.url('source'), without.url('source')]) await fill(open(url));
  });
  afterAll(async () => {
    for (const registry of [withApi, without, withAccounts]) await registry[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  /** Three versions; `stable` is 1.1.0, which has a signature of each form. */
  async function fill(repository: WritableRepository): Promise<void> {
    await pushArtifact(repository, '1.0.0', randomBytes(1_000));
    const { descriptor } = await pushArtifact(repository, '1.1.0', randomBytes(1_000));
    await pushArtifact(repository, 'stable', randomBytes(1_000));
    await repository.pushManifest(await repository.manifest(descriptor.digest, signal), 'stable', signal);
    await pushArtifact(repository, '1.2.0', randomBytes(1_000));
    await pushArtifact(repository, '', randomBytes(100), descriptor);
    await pushArtifact(repository, oldTag(descriptor.digest), randomBytes(100));
  }

  const mirror = async (args: string): Promise<CliRun> =>
    await cliRun(`module mirror ${args}`, { env: { DOCKER_CONFIG: directory } });
  const offered = async (repository: WritableRepository): Promise<readonly string[]> =>
    (await repository.tags(signal)).filter((tag) => !/^sha256-[0-9a-f]+$/.test(tag)).toSorted();

  for (const [name, source, target] of [
    [
      'a registry with a referrers API to one without',
      () => withApi.url('source'),
      () => without.url('copy'),
    ],
    [
      'a registry without a referrers API to one with it',
      () => without.url('source'),
      () => withApi.url('copy'),
    ],
    ['a registry to one with accounts', () => withApi.url('source'), () => withAccounts.url('alice/copy')],
    ['a registry to a layout', () => withApi.url('source'), () => `oci-layout://${directory}/out/web`],
    ['a layout to a registry', () => `oci-layout://${directory}/out/web`, () => without.url('back')],
  ] as const) {
    test(`copies tags, channels and signatures from ${name}, and nothing a second time`, async () => {
      const run = await mirror(`${source()} ${target()} --all`);
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      expect(run.stdout).toMatch(
        /^1\.1\.0 sha256:\w{64} copied, \d parts, 0\.0 MB, 2 signatures or attestations$/m,
      );
      expect(run.stdout).toContain(`4 tags of ${source()} are at ${target()}`);
      const [from, to] = [open(source()), openWithAccounts(target())];
      expect(await offered(to)).toEqual(await offered(from));
      for (const tag of await offered(from))
        expect(await to.resolve(tag, signal)).toEqual(await from.resolve(tag, signal));
      const { digest = '' } = (await from.resolve('1.1.0', signal)) ?? {};
      expect(await to.referrers(digest, signal)).toEqual(await from.referrers(digest, signal));
      const again = await mirror(`${source()} ${target()} --all`);
      expect(again).toMatchObject({ exitCode: 0, stderr: '' });
      expect(again.stdout).not.toContain('copied');
      expect(again.stdout.match(/ unchanged/g)).toHaveLength(4);
    });
  }

  const openWithAccounts = (url: string): WritableRepository =>
    openRepository(url, {
      clock: new FakeClock(),
      credentials: async () => await Promise.resolve({ username: 'alice', password: 'alice-password' }),
    });

  test('a layout is read by crane and oras', async () => {
    const target = `${directory}/read/web`;
    await mirror(`${withApi.url('source')} oci-layout://${target} --channel stable`);
    const { digest } = (await open(withApi.url('source')).resolve('stable', signal)) ?? {};
    expect(await oras(['resolve', '--oci-layout', `${target}:stable`], signal)).toBe(digest);
    await crane(['push', target, `${without.host}/from-layout:1.0.0`, '--index'], signal);
    const pushed = await open(without.url('from-layout')).resolve(digest ?? '', signal);
    expect(pushed?.digest).toBe(digest);
  });

  test('copies a channel with its version and those from --since on', async () => {
    const target = without.url('channel');
    expect(await mirror(`${withApi.url('source')} ${target} --channel stable`)).toMatchObject({
      exitCode: 0,
    });
    expect((await offered(open(target))).filter((tag) => !tag.endsWith('.sig'))).toEqual(['1.1.0', 'stable']);
    await mirror(`${withApi.url('source')} ${target} --channel stable --since 1.1.1`);
    expect((await offered(open(target))).filter((tag) => !tag.endsWith('.sig'))).toEqual([
      '1.1.0',
      '1.2.0',
      'stable',
    ]);
  });

  test('ends with 1, when the destination lacks a signature', async () => {
    await withApi.setFaults({ path: '/v2/lossy/referrers/', body: '{"manifests":[]}' });
    const run = await mirror(`${without.url('source')} ${withApi.url('lossy')}`);
    await withApi.setFaults();
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(
      /^1\.1\.0: the destination does not list sha256:\w{64}, which the source lists/m,
    );
  });

  test('copies what refers to a signature, and misses it at the destination', async () => {
    const source = open(withApi.url('nested'));
    const { descriptor } = await pushArtifact(source, '1.0.0', randomBytes(10));
    const signature = await pushArtifact(source, '', randomBytes(10), descriptor);
    const attestation = await pushArtifact(source, '', randomBytes(10), signature.descriptor);
    await mirror(`${withApi.url('nested')} ${without.url('nested')} --all`);
    const copied = await open(without.url('nested')).referrers(signature.descriptor.digest, signal);
    expect(copied.map(({ digest }) => digest)).toEqual([attestation.descriptor.digest]);
    await withApi.setFaults({
      path: `/v2/lossy/referrers/${signature.descriptor.digest}`,
      body: '{"manifests":[]}',
    });
    const run = await mirror(`${without.url('nested')} ${withApi.url('lossy')} --all`);
    await withApi.setFaults();
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(attestation.descriptor.digest),
    });
  });

  test('uploads nothing that is there already', async () => {
    const target = withApi.url('once');
    await mirror(`${without.url('source')} ${target} --all`);
    await withApi.clearLog();
    await mirror(`${without.url('source')} ${target} --all`);
    const methods = new Set((await withApi.accessLog()).map(({ method }) => method));
    expect([...methods].toSorted()).toEqual(['GET', 'HEAD']);
  });

  test('stops at content that is not that of its digest', async () => {
    await withApi.setFaults({ path: '/v2/source/blobs/', flipAt: 1 });
    const run = await mirror(`${withApi.url('source')} ${without.url('damaged')} --all`);
    await withApi.setFaults();
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Code: ARTIFACT_INVALID') });
    expect(await open(without.url('damaged')).resolve('1.0.0', signal)).toBeUndefined();
  });

  test.each([
    ['oci://localhost:1/a', 'Code: REGISTRY_UNREACHABLE'],
    ['https://localhost/a', 'Code: SOURCE_INVALID'],
    ['oci-layout:///nonexistent', 'Code: REGISTRY_NOT_FOUND'],
  ])('names what is wrong with %s', async (source, expected) => {
    const run = await mirror(`${source} ${without.url('none')}`);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(expected) });
  });
});
