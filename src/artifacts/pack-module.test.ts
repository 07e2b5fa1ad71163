import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { signMessage } from '@addon-operator/crypto/ssh-signature';
import { parseJson } from '@addon-operator/json';
import {
  array,
  asyncProperty,
  boolean,
  assert as check,
  constantFrom,
  record,
  shuffledSubarray,
  uint8Array,
} from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { MemoryRepository } from '../../test/support/oci-memory.ts';
import { rawTgz } from '../../test/support/tar-builder.ts';
import { manifestText } from '../authorization/content-manifest.ts';
import { readContent } from '../authorization/module-content.ts';
import { type PackedModule, packModule } from './pack-module.ts';
import { promote, pushPacked } from './push-module.ts';
import { readArtifact } from './read-artifact.ts';
import { resolveChannel } from './release-channel.ts';
import { unpackArtifact } from './unpack-artifact.ts';

const SIGNAL = new AbortController().signal;

let world: string;
let directory: string;
let repository: MemoryRepository;

beforeEach(async () => {
  world = await mkdtemp(join(tmpdir(), 'artifacts-'));
  directory = join(world, '030-web');
  repository = new MemoryRepository();
  await put({ 'Chart.yaml': 'name: web\nversion: 1.4.2\n', 'hooks/a.sh': '#!/bin/sh\n' });
  await chmod(join(directory, 'hooks/a.sh'), 0o755);
});

async function put(files: Readonly<Record<string, string>>, to = directory): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), content);
  }
}

async function configOf({ config }: PackedModule): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of config.open()) chunks.push(chunk);
  return parseJson(Buffer.concat(chunks).toString());
}

/** Packs and pushes the directory; returns another one with what was pushed. */
async function pushedAndUnpacked(): Promise<string> {
  const packed = await packModule(directory, {}, SIGNAL);
  await pushPacked(packed, repository, [], SIGNAL);
  const target = await mkdtemp(join(tmpdir(), 'artifacts-'));
  await unpackArtifact(
    repository,
    await readArtifact(repository, packed.manifest.descriptor, SIGNAL),
    target,
    SIGNAL,
  );
  return target;
}

test('all that a policy decides on is in the config', async () => {
  await put({
    'module.yaml':
      'version: "1.5.0"\noperator: ">=1.2"\nrequires: [{name: db, version: "^2"}, {name: dns}, {name: old, optional: true}]\n',
    'CHANGELOG.md':
      '# Changelog\n## Unreleased\n## v1.5.0 (today)\n\n- New.\n\n### Fixed\n- Old.\n## 1.4.0\n- Older.\n',
  });
  const packed = await packModule(directory, {}, SIGNAL);
  expect(await configOf(packed)).toEqual({
    name: 'web',
    version: '1.5.0',
    requires: { db: '^2', dns: '*' },
    operator: '>=1.2',
    changelog: '- New.\n\n### Fixed\n- Old.',
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  });
  const { digest } = await pushPacked(packed, repository, [], SIGNAL);
  const artifact = await readArtifact(repository, packed.manifest.descriptor, SIGNAL);
  expect(artifact).toMatchObject({
    format: 'module',
    digest,
    facts: { name: 'web', version: '1.5.0', requires: { db: '^2', dns: '*' } },
  });
});

test.each([
  ['the option', { version: 'v2.0.0+b.1' }, '2.0.0+b.1'],
  ['Chart.yaml', {}, '1.4.2'],
])('the version is that of %s', async (_title, options, version) => {
  expect((await packModule(directory, options, SIGNAL)).version).toBe(version);
});

test('equal files have one digest, whatever their times, owners, order and place', async () => {
  const first = await packModule(directory, {}, SIGNAL);
  const copy = join(world, 'elsewhere/web');
  await put(
    {
      'hooks/a.sh': '#!/bin/sh\n',
      'Chart.yaml': 'name: web\nversion: 1.4.2\n',
      '.git/HEAD': 'x',
      'empty/.git/x': 'x',
    },
    copy,
  );
  await chmod(join(copy, 'hooks/a.sh'), 0o700);
  await chmod(join(copy, 'Chart.yaml'), 0o600);
  await utimes(join(copy, 'Chart.yaml'), 1, 1);
  const second = await packModule(copy, {}, SIGNAL);
  expect(second.manifest).toEqual(first.manifest);
  expect(Buffer.from(first.manifest.bytes).toString()).not.toContain('created');
  const dated = await packModule(directory, { sourceDateEpoch: 86_400 }, SIGNAL);
  expect(Buffer.from(dated.manifest.bytes).toString()).toContain(
    '"org.opencontainers.image.created":"1970-01-02T00:00:00.000Z"',
  );
  expect(dated.layer.digest).toBe(first.layer.digest);
});

test('a second push sends nothing', async () => {
  const first = await pushPacked(await packModule(directory, {}, SIGNAL), repository, ['beta'], SIGNAL);
  expect(first.sent).toBe(true);
  expect(await pushPacked(await packModule(directory, {}, SIGNAL), repository, ['beta'], SIGNAL)).toEqual({
    ...first,
    sent: false,
  });
  expect(Object.fromEntries(repository.tagged)).toEqual({ '1.4.2': first.digest, beta: first.digest });
});

test('a version never changes, and a channel is not named like one', async () => {
  await pushPacked(await packModule(directory, {}, SIGNAL), repository, [], SIGNAL);
  const before = new Map(repository.tagged);
  await put({ 'hooks/b.sh': '' });
  const changed = await packModule(directory, {}, SIGNAL);
  await expect(pushPacked(changed, repository, [], SIGNAL)).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    message: expect.stringMatching(/:1\.4\.2 has other content, sha256:.*raise the version/),
  });
  const next = await packModule(directory, { version: '1.4.3+b' }, SIGNAL);
  for (const channel of ['2.0.0', 'v2.0.0', 'sha256-1', 'a b', 'x.sig'])
    await expect(pushPacked(next, repository, [channel], SIGNAL)).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
    });
  expect(repository.tagged).toEqual(before);
  await pushPacked(next, repository, [], SIGNAL);
  expect([...repository.tagged.keys()]).toContain('1.4.3_b');
});

test('promote() moves a channel, and only that', async () => {
  const { digest } = await pushPacked(await packModule(directory, {}, SIGNAL), repository, [], SIGNAL);
  expect(await promote(repository, '1.4.2', 'stable', SIGNAL)).toMatchObject({ digest });
  expect(repository.tagged.get('stable')).toBe(digest);
  await expect(promote(repository, '1.4.2', '1.4.3', SIGNAL)).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
  });
  await expect(promote(repository, '9.9.9', 'stable', SIGNAL)).rejects.toMatchObject({
    code: 'REGISTRY_NOT_FOUND',
  });
});

test.each<[string, () => Promise<unknown>, string, RegExp]>([
  [
    'a link out',
    async () => await symlink('/etc/passwd', join(directory, 'l')),
    'MODULE_UNAUTHORIZED',
    /outside of the module/,
  ],
  [
    'names that differ in case',
    async () => await put({ 'hooks/A.sh': '' }),
    'ARTIFACT_INVALID',
    /differ only in case/,
  ],
  ['control characters', async () => await put({ 'a\nb': '' }), 'ARTIFACT_INVALID', /has control characters/],
  [
    'what would be taken for a bomb',
    async () => await writeFile(join(directory, 'zeros'), Buffer.alloc(4_000_000)),
    'ARTIFACT_INVALID',
    /grows to more than 100 times/,
  ],
  [
    'an invalid module.yaml',
    async () => await put({ 'module.yaml': 'version: 1' }),
    'MODULE_INVALID',
    /module\.yaml: version/,
  ],
  [
    'no version',
    async () => await rm(join(directory, 'Chart.yaml')),
    'ARTIFACT_INVALID',
    /module web has no version: set it/,
  ],
  [
    'a version that is none',
    async () => await put({ 'Chart.yaml': 'version: latest' }),
    'ARTIFACT_INVALID',
    /has the version "latest", which is not semantic/,
  ],
])('%s is refused', async (_title, change, code, message) => {
  await change();
  await expect(packModule(directory, {}, SIGNAL)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

test('manifest and signature are packed along, and a manifest of other files is refused', async () => {
  const text = manifestText({ name: 'web', serial: 1, files: await readContent(directory, {}, SIGNAL) });
  const signature = signMessage(
    Buffer.from(text),
    generateKeyPairSync('ed25519').privateKey,
    'addon-operator-module',
  );
  await put({ 'module.manifest': text, 'module.manifest.sig': signature });
  const target = await pushedAndUnpacked();
  for (const name of ['module.manifest', 'module.manifest.sig'])
    expect(await readFileOf(target, name)).toBe(await readFileOf(directory, name));
  await put({ 'hooks/b.sh': '' });
  await expect(packModule(directory, {}, SIGNAL)).rejects.toThrow(
    /module\.manifest does not fit what is packed: .*hooks\/b\.sh was added; sign the module again/,
  );
});

async function readFileOf(at: string, name: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return await readFile(join(at, name), 'utf8');
}

const NAMES = [
  'a',
  'ß',
  'B-c',
  'x y',
  '-d',
  `long-${'n'.repeat(90)}`,
  'ü'.repeat(60),
  'f.yaml',
  '.helmignore',
  '.wh.g',
];

test('what is packed is unpacked as it was, and the digest does not depend on the order of creation', {
  timeout: 120_000,
}, async () => {
  const file = record({
    parts: shuffledSubarray(NAMES, { minLength: 1, maxLength: 4 }),
    content: uint8Array({ maxLength: 3_000 }),
    isExecutable: boolean(),
    kind: constantFrom('file', 'file', 'link', 'directory'),
  });
  await check(
    asyncProperty(array(file, { minLength: 1, maxLength: 12 }), async (files) => {
      const digests = new Set<string>();
      for (const order of [files, files.toReversed()]) {
        const root = await mkdtemp(join(tmpdir(), 'artifacts-'));
        const source = join(root, 'web');
        await mkdir(source);
        // The first of two that cannot both be there wins, in either order.
        const made = files.filter(
          (one, index) => !files.slice(0, index).some((other) => clash(one.parts, other.parts)),
        );
        for (const { parts, content, isExecutable, kind } of order.filter((one) => made.includes(one))) {
          const path = join(source, parts.join('/'));
          await mkdir(dirname(path), { recursive: true });
          if (kind === 'directory') await mkdir(path);
          else if (kind === 'link') await symlink('../'.repeat(parts.length - 1) || '.', path);
          else await writeFile(path, content, { mode: isExecutable ? 0o755 : 0o644 });
        }
        const packed = await packModule(source, { version: '1.0.0' }, SIGNAL);
        digests.add(packed.manifest.descriptor.digest);
        const target = join(root, 'target');
        await mkdir(target);
        await put({ 'module.yaml': '' }, source);
        const withModule = await packModule(source, { version: '1.0.0' }, SIGNAL);
        const memory = new MemoryRepository();
        await pushPacked(withModule, memory, [], SIGNAL);
        const artifact = await readArtifact(memory, withModule.manifest.descriptor, SIGNAL);
        await unpackArtifact(memory, artifact, target, SIGNAL);
        expect(await readContent(target, {}, SIGNAL)).toEqual(await readContent(source, {}, SIGNAL));
        await rm(root, { recursive: true });
      }
      expect(digests.size).toBe(1);
    }),
    { numRuns: 40 },
  );
});

/** Whether one of the paths is the other, or above it. */
function clash(a: readonly string[], b: readonly string[]): boolean {
  return (
    a.slice(0, b.length).every((part, index) => part === b[index]) ||
    b.slice(0, a.length).every((part, index) => part === a[index])
  );
}

test('a link to a directory that is empty keeps it', async () => {
  await mkdir(join(directory, 'empty/deep'), { recursive: true });
  await symlink('../empty/deep', join(directory, 'hooks/link'));
  const target = await pushedAndUnpacked();
  expect(await readContent(target, {}, SIGNAL)).toEqual(await readContent(directory, {}, SIGNAL));
});

test('a release channel of Deckhouse names the tag of its version', async () => {
  const image = (content: string | undefined) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: repository.put('application/vnd.oci.image.config.v1+json', '{}'),
    layers: [
      repository.put(
        'application/vnd.oci.image.layer.v1.tar+gzip',
        rawTgz([{ name: 'changelog.yaml' }, { name: 'version.json', content: '{"version": "v1.0.0"}' }]),
      ),
      ...(content === undefined
        ? [
            repository.put(
              'application/vnd.oci.image.layer.v1.tar+gzip',
              rawTgz([{ name: '.wh.version.json' }]),
            ),
          ]
        : [
            repository.put(
              'application/vnd.oci.image.layer.v1.tar+gzip',
              rawTgz([{ name: 'version.json', content }]),
            ),
          ]),
    ],
  });
  repository.putManifest(image('{"version": "v1.2.3"}'), 'early-access');
  expect(await resolveChannel(repository, 'early-access', SIGNAL)).toBe('v1.2.3');
  expect(await resolveChannel(repository, 'stable', SIGNAL)).toBeUndefined();
  for (const [content, message] of [
    [undefined, /has no version\.json/],
    ['{}', /has no semantic version/],
    ['hello', /is not JSON/],
  ] as const) {
    repository.putManifest(image(content), 'broken');
    await expect(resolveChannel(repository, 'broken', SIGNAL)).rejects.toThrow(message);
  }
});
