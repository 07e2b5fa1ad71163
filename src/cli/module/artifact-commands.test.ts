import { generateKeyPairSync } from 'node:crypto';
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attach, CosignSigner } from '../../../test/support/cosign-signer.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { MemoryRepository } from '../../../test/support/oci-memory.ts';
import { rawTgz } from '../../../test/support/tar-builder.ts';
import { readArchive } from '../../artifacts/unpack-archive.ts';
import type { CliHost } from '../cli-host.ts';
import { runCli } from '../run-cli.ts';
import { packCommand, pullCommand, pushCommand } from './artifact-files.ts';
import { parseArtifactReference, parseRepository, parseVersionReference } from './artifact-reference.ts';
import { promoteCommand, versionsCommand } from './artifact-versions.ts';

const URL = 'oci://registry.example.com/platform/web';
let root: string;
let said: { stdout: string; stderr: string };
let host: CliHost;
let repository: MemoryRepository;
const opened: string[] = [];
const open = async (url: string) => {
  opened.push(url);
  return await Promise.resolve(repository);
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'artifacts-'));
  repository = new MemoryRepository();
  said = { stdout: '', stderr: '' };
  host = {
    env: {},
    cwd: root,
    clock: new FakeClock(1_800_000_000_000),
    stdout: { write: (text) => (said.stdout += text) },
    stderr: { write: (text) => (said.stderr += text) },
    stopSignal: () => new AbortController().signal,
  };
  await mkdir(join(root, '030-web/hooks'), { recursive: true });
  await writeFile(join(root, '030-web/module.yaml'), 'version: "1.4.2"\n');
  await writeFile(join(root, '030-web/hooks/a.sh'), '#!/bin/sh\n');
  await chmod(join(root, '030-web/hooks/a.sh'), 0o755);
});

afterEach(() => rm(root, { recursive: true }));

function output(): string {
  const { stdout } = said;
  said.stdout = '';
  return stdout;
}

async function pushed(flags: Parameters<typeof pushCommand>[2] = {}): Promise<string> {
  said.stdout = '';
  expect(await pushCommand('030-web', URL, flags, host, open)).toBe(0);
  return /@(sha256:[0-9a-f]{64})/.exec(said.stdout)?.[1] ?? '';
}

async function setVersion(version: string): Promise<void> {
  await writeFile(join(root, '030-web/module.yaml'), `version: "${version}"\n`);
}

test('module push says the digest, and that a second push sent nothing', async () => {
  const digest = await pushed({ channel: ['beta', 'rc'] });
  expect(output()).toBe(`${URL}@${digest}: pushed as 1.4.2, beta, rc\n`);
  await pushed({ channel: ['beta'] });
  expect(output()).toBe(`${URL}@${digest}: already there as 1.4.2, beta\n`);
  expect(opened).toContain(URL);
  await pushed({ version: '2.0.0' });
  expect(output()).toMatch(/: pushed as 2\.0\.0\n$/);
});

test('module push creates an image layout in a directory that is new', async () => {
  const url = `oci-layout://${join(root, 'media/web')}`;
  for (const outcome of ['pushed', 'already there']) {
    expect(await pushCommand('030-web', url, {}, host)).toBe(0);
    expect(output()).toMatch(new RegExp(`: ${outcome} as 1\\.4\\.2\\n$`, 'u'));
  }
  await expect(pushCommand('030-web', `oci-layout://${root}`, {}, host)).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
  });
});

test('module push --sign signs once, and again after a change', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(join(root, 'key'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
  await writeFile(
    join(root, 'keys'),
    `release ssh-ed25519 ${sshPublicKey(publicKey).blob.toString('base64')}\n`,
  );
  const digest = await pushed({ sign: 'key' });
  expect(output()).toMatch(/^web: signed 2 files with ssh-ed25519 .*\noci:/);
  await pushed({ sign: 'key' });
  expect(output()).toBe(`${URL}@${digest}: already there as 1.4.2\n`);
  expect(await pullCommand(`${URL}:1.4.2`, { output: 'out', keyring: 'keys' }, host, open)).toBe(0);
  expect(output()).toBe(`web 1.4.2 ${digest} is in ${join(root, 'out')} (verified)\n`);
  await setVersion('1.5.0');
  await pushed({ sign: 'key' });
  expect(output()).toMatch(/^web: signed 2 files .*\noci:.* pushed as 1\.5\.0\n$/);
});

test('module push takes the time of SOURCE_DATE_EPOCH, and refuses one that is none', async () => {
  const env = (value: string): CliHost => ({ ...host, env: { SOURCE_DATE_EPOCH: value } });
  await pushCommand('030-web', URL, {}, env('0'), open);
  const [manifest] = [...repository.manifests.values()];
  expect(Buffer.from(manifest?.bytes ?? []).toString()).toContain('"1970-01-01T00:00:00.000Z"');
  await expect(pushCommand('030-web', URL, {}, env('now'), open)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('module pack writes an archive that module store add reads', async () => {
  expect(await packCommand('030-web', {}, host)).toBe(0);
  expect(output()).toBe(`${join(root, 'web-1.4.2.tgz')}\n`);
  const signal = new AbortController().signal;
  expect(await readArchive(join(root, 'web-1.4.2.tgz'), signal)).toMatchObject({
    module: 'web',
    version: '1.4.2',
  });
  expect(await packCommand('030-web', { version: '2.0.0', file: 'x.tgz' }, host)).toBe(0);
  expect(await readdir(root)).toContain('x.tgz');
});

test('module promote lets a channel name a version', async () => {
  const digest = await pushed();
  output();
  expect(await promoteCommand(`${URL}:1.4.2`, 'stable', host, open)).toBe(0);
  expect(output()).toBe(`${URL}:stable is 1.4.2 now, ${digest}\n`);
  expect(repository.tagged.get('stable')).toBe(digest);
});

test('module versions lists versions with their channels and without tags of signatures', async () => {
  const first = await pushed({ channel: ['stable'] });
  new CosignSigner().signOld(repository, first);
  await appendFile(join(root, '030-web/hooks/a.sh'), 'x');
  await setVersion('1.10.0-rc.1');
  const second = await pushed({ channel: ['beta', 'alpha'] });
  attach(repository, second, 'anything');
  await setVersion('1.5.0');
  const third = await pushed();
  repository.putManifest({ mediaType: 'x', layers: [] }, 'not-a-module');
  output();
  expect(await versionsCommand(URL, { isAll: false, format: 'table' }, host, open)).toBe(0);
  expect(output().replaceAll(/ +/g, ' ')).toBe(
    [
      'VERSION DIGEST CHANNELS SIZE SIGNED',
      `1.10.0-rc.1 ${second.slice(0, 19)} alpha,beta 1 KiB yes`,
      `1.5.0 ${third.slice(0, 19)} 1 KiB no`,
      `1.4.2 ${first.slice(0, 19)} stable 1 KiB yes`,
      '',
    ].join('\n'),
  );
  await versionsCommand(URL, { isAll: false, format: 'wide' }, host, open);
  expect(output()).toContain(second);
  await versionsCommand(URL, { isAll: false, format: 'json' }, host, open);
  expect(JSON.parse(output())).toMatchObject([
    { version: '1.10.0-rc.1', signed: true },
    {},
    { digest: first, channels: ['stable'] },
  ]);
  await versionsCommand(URL, { isAll: false, format: 'name' }, host, open);
  expect(output()).toBe('1.10.0-rc.1\n1.5.0\n1.4.2\n');
});

test('module versions shows the newest 20, and all with --all', async () => {
  const digest = await pushed();
  for (let patch = 10; patch < 40; patch += 1) repository.tagged.set(`1.4.${patch}`, digest);
  for (let patch = 0; patch < 30; patch += 1) {
    await setVersion(`1.${patch}.0`);
    await pushed({ version: `1.${patch}.0` });
  }
  output();
  await versionsCommand(URL, { isAll: false, format: 'name' }, host, open);
  expect(output().split('\n')[0]).toBe('1.29.0');
  expect(said.stderr).toBe('41 older versions are not shown, --all shows them\n');
  await versionsCommand(URL, { isAll: true, format: 'name' }, host, open);
  expect(output().trim().split('\n')).toHaveLength(31);
});

test('module pull verifies with cosign, and leaves nothing behind if it refuses', async () => {
  const signer = new CosignSigner();
  const digest = await pushed();
  attach(repository, digest, signer.bundle(digest));
  await writeFile(join(root, 'cosign.pub'), signer.publicKey);
  await writeFile(join(root, 'other.pub'), new CosignSigner().publicKey);
  await expect(
    pullCommand(`${URL}@${digest}`, { output: 'out', cosignKey: ['other.pub'] }, host, open),
  ).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
  expect(await readdir(root)).not.toContain('out');
  expect(
    await pullCommand(`${URL}:1.4.2`, { output: 'out', cosignKey: ['other.pub', 'cosign.pub'] }, host, open),
  ).toBe(0);
  expect(await readFile(join(root, 'out/hooks/a.sh'), 'utf8')).toBe('#!/bin/sh\n');
  await expect(pullCommand(`${URL}:1.4.2`, { output: 'out' }, host, open)).rejects.toMatchObject({
    code: 'REQUEST_INVALID',
  });
  await writeFile(join(root, 'keys'), 'rubbish');
  await expect(
    pullCommand(`${URL}:1.4.2`, { output: 'signed', keyring: 'keys' }, host, open),
  ).rejects.toMatchObject({ code: 'MODULE_UNVERIFIED' });
  await expect(
    pullCommand(`${URL}:1.4.2`, { output: 'signed', keyring: 'none' }, host, open),
  ).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  await mkdir(join(root, 'empty'));
  output();
  await pullCommand(`${URL}:1.4.2`, { output: 'empty' }, host, open);
  expect(output()).toMatch(/is in .*empty \(not verified: no key was given\)\n$/);
  await expect(pullCommand(`${URL}:9.9.9`, { output: 'none' }, host, open)).rejects.toMatchObject({
    code: 'REGISTRY_NOT_FOUND',
  });
  expect((await readdir(root)).toSorted()).toEqual([
    '030-web',
    'cosign.pub',
    'empty',
    'keys',
    'other.pub',
    'out',
  ]);
});

test('module pull unpacks a chart without its directory', async () => {
  repository.putManifest(
    {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: repository.put(
        'application/vnd.cncf.helm.config.v1+json',
        '{"name": "web", "version": "1.0.0+b"}',
      ),
      layers: [
        repository.put(
          'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
          rawTgz([{ name: 'web/Chart.yaml' }]),
        ),
      ],
    },
    '1.0.0_b',
  );
  await pullCommand(`${URL}:1.0.0_b`, { output: 'chart' }, host, open);
  expect(await readdir(join(root, 'chart'))).toEqual(['Chart.yaml']);
});

test.each([
  ['oci://host/web', 'oci://host/web', undefined],
  ['oci://host:5000/a/web', 'oci://host:5000/a/web', undefined],
  ['oci://host:5000/a/web:1.0.0_b', 'oci://host:5000/a/web', '1.0.0_b'],
  [`oci://host/web@sha256:${'0'.repeat(64)}`, 'oci://host/web', `sha256:${'0'.repeat(64)}`],
  ['oci-layout:///modules/web:1.0.0', 'oci-layout:///modules/web', '1.0.0'],
  ['oci-layout://modules', 'oci-layout://modules', undefined],
])('the reference %s is understood', (text, url, reference) => {
  expect(parseArtifactReference(text)).toEqual({ url, reference });
});

test.each([
  'web',
  'https://host/web',
  'oci://host',
  'oci://host:5000',
  'oci://',
  'oci-layout://',
  'oci://host/web@sha256:12',
  'oci://user:pass@host/web',
])('the reference %s is refused', (text) => {
  expect(() => parseArtifactReference(text)).toThrow(OperatorError);
});

test('a command asks for what it needs: a repository, or a version in it', () => {
  expect(() => parseRepository(`${URL}:1.0.0`)).toThrow(`a repository is expected: ${URL}`);
  expect(() => parseVersionReference(URL)).toThrow('names no version: add :TAG or @sha256:HEX');
});

test('the commands read their options', async () => {
  expect(await runCli(['module', 'pack', '030-web', '--version', '3.0.0'], host)).toBe(0);
  expect(output()).toBe(`${join(root, 'web-3.0.0.tgz')}\n`);
  for (const args of [
    ['push', '030-web', 'https://x', '--version', '1.0.0', '--channel', 'a', '--sign', 'key'],
    ['promote', 'https://x', 'stable'],
    ['pull', 'https://x', '-o', 'out', '--keyring', 'k', '--cosign-key', 'c', '--name', 'web'],
    ['versions', 'https://x', '-o', 'json', '--all'],
  ]) {
    said.stderr = '';
    expect(await runCli(['module', ...args], host)).toBe(1);
    expect(said.stderr).toContain('"https://x" is not a repository');
  }
});
