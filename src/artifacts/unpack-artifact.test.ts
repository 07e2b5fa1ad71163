import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { MemoryRepository } from '../../test/support/oci-memory.ts';
import { paxHeader, type RawEntry, rawTar, rawTgz } from '../../test/support/tar-builder.ts';
import { UNPACK_LIMITS, type UnpackLimits } from './content-tree.ts';
import type { ArtifactFormat, ModuleArtifact } from './module-artifact.ts';
import { unpackArtifact } from './unpack-artifact.ts';
import { unpackLayers } from './unpack-layers.ts';

const SIGNAL = new AbortController().signal;
const CHART: RawEntry = { name: 'Chart.yaml', content: 'name: web\n' };

let repository: MemoryRepository;
let directory: string;

beforeEach(async () => {
  repository = new MemoryRepository();
  directory = await mkdtemp(join(tmpdir(), 'artifacts-'));
});

function artifact(format: ArtifactFormat, ...archives: readonly Buffer[]): ModuleArtifact {
  const layers = archives.map((bytes) => repository.put(bytes[0] === 0x1f ? 'x.tar+gzip' : 'x.tar', bytes));
  return { format, digest: 'sha256:1', facts: { version: '1.0.0' }, layers };
}

async function unpacked(...layers: readonly (readonly RawEntry[])[]): Promise<readonly string[]> {
  const archives = layers.map((entries, index) => (index % 2 === 0 ? rawTgz(entries) : rawTar(entries)));
  await unpackArtifact(repository, artifact('deckhouse', ...archives), directory, SIGNAL);
  return (await readdir(directory, { recursive: true })).toSorted();
}

test.each<[string, readonly (readonly RawEntry[])[], readonly string[]]>([
  [
    'a file of an upper layer replaces that of a lower one',
    [[CHART, { name: 'a', content: '1' }], [{ name: 'a', content: '2' }]],
    ['Chart.yaml', 'a'],
  ],
  [
    'a whiteout removes a file',
    [[CHART, { name: 'd/a' }, { name: 'd/b' }], [{ name: 'd/.wh.a' }]],
    ['Chart.yaml', 'd', 'd/b'],
  ],
  [
    'a whiteout removes a directory',
    [[CHART, { name: 'd/e/a' }, { name: 'de' }], [{ name: '.wh.d' }]],
    ['Chart.yaml', 'de'],
  ],
  [
    'an opaque directory keeps only what its layer has',
    [
      [CHART, { name: 'd/a' }, { name: 'd/e/b' }],
      [{ name: 'd/c' }, { name: 'd/.wh..wh..opq' }],
    ],
    ['Chart.yaml', 'd', 'd/c'],
  ],
  [
    'a whiteout does not hide what its own layer has',
    [
      [CHART, { name: 'd/a' }],
      [{ name: 'd/b' }, { name: '.wh.d' }],
    ],
    ['Chart.yaml', 'd', 'd/b'],
  ],
  ['a whiteout of nothing has no effect', [[CHART], [{ name: '.wh.x' }]], ['Chart.yaml']],
  [
    'a file replaces a directory',
    [[CHART, { name: 'd/a' }], [{ name: 'd', content: 'x' }]],
    ['Chart.yaml', 'd'],
  ],
  [
    'a directory replaces a file',
    [[CHART, { name: 'd' }], [{ name: 'd/a' }]].map((layer, index) =>
      index === 0 ? layer : [{ name: '.wh.d' }, ...layer],
    ),
    ['Chart.yaml', 'd', 'd/a'],
  ],
  [
    'a name may come back in another case',
    [
      [CHART, { name: 'README' }],
      [{ name: '.wh.README' }, { name: 'readme' }],
    ],
    ['Chart.yaml', 'readme'],
  ],
  [
    'files of the builder are left out',
    [[CHART, { name: '.werf/x' }, { name: '.werf-info' }, { name: 'd/.werf.yaml' }, { name: 'd/a' }]],
    ['Chart.yaml', 'd', 'd/a'],
  ],
])('of an image, %s', async (_title, layers, names) => {
  expect(await unpacked(...layers)).toEqual(names);
});

test('of an image, hard links and links are kept, and modes are for the owner', async () => {
  await unpacked([
    CHART,
    { name: 'hooks/go', content: 'binary', mode: 0o4755 },
    { name: 'hooks/same', type: '1', linkName: 'hooks/go' },
    { name: 'link', type: '2', linkName: 'hooks/../hooks/go' },
    { name: 'secret', mode: 0o077 },
  ]);
  expect((await stat(join(directory, 'hooks/go'))).mode & 0o7777).toBe(0o700);
  expect((await stat(join(directory, 'secret'))).mode & 0o7777).toBe(0o400);
  for (const name of ['hooks/same', 'link'])
    expect(await readFile(join(directory, name), 'utf8')).toBe('binary');
});

test('a file of an upper layer does not change the hard link to the lower one', async () => {
  await unpacked(
    [CHART, { name: 'a', content: 'old' }, { name: 'b', type: '1', linkName: 'a' }],
    [{ name: 'a', content: 'new' }],
  );
  expect(await readFile(join(directory, 'b'), 'utf8')).toBe('old');
  expect(await readFile(join(directory, 'a'), 'utf8')).toBe('new');
});

test('whiteouts mean nothing in other formats', async () => {
  await unpackArtifact(repository, artifact('flux', rawTgz([CHART, { name: '.wh.x' }])), directory, SIGNAL);
  expect((await readdir(directory)).toSorted()).toEqual(['.wh.x', 'Chart.yaml']);
});

test.each<[string, ArtifactFormat, readonly (readonly RawEntry[])[], RegExp]>([
  ['a whiteout that leads out', 'deckhouse', [[CHART], [{ name: '.wh...' }]], /leads out/],
  [
    'a link out of a lower layer',
    'deckhouse',
    [[CHART, { name: 'l', type: '2', linkName: '..' }], [CHART]],
    /outside of the module/,
  ],
  [
    'a file through a link of a lower layer',
    'deckhouse',
    [[CHART, { name: 'd/a' }, { name: 'l', type: '2', linkName: 'd' }], [{ name: 'l/x' }]],
    /is below l, which is a symlink/,
  ],
  [
    'a link whose target is removed',
    'deckhouse',
    [[CHART, { name: 'a' }, { name: 'l', type: '2', linkName: 'a' }], [{ name: '.wh.a' }]],
    /which is not in it/,
  ],
  ['an image that is no module', 'deckhouse', [[{ name: 'bin/sh' }]], /no file of a module at its top/],
  [
    'a chart with two directories',
    'helm-chart',
    [[{ name: 'web/Chart.yaml' }, { name: 'other/x' }]],
    /beside web\//,
  ],
  ['a chart without a directory', 'helm-chart', [[CHART]], /beside Chart\.yaml/],
])('%s is refused, and nothing is left', async (_title, format, layers, message) => {
  await expect(
    unpackArtifact(repository, artifact(format, ...layers.map(rawTgz)), directory, SIGNAL),
  ).rejects.toMatchObject({ code: 'ARTIFACT_INVALID', message: expect.stringMatching(message) });
  expect(await readdir(directory)).toEqual([]);
});

test.each<[string, Partial<UnpackLimits>, RegExp]>([
  ['files', { entries: 2 }, /more than 2 files and directories/],
  ['bytes', { bytes: 19_000 }, /more than 19000 bytes in it/],
  ['compressed bytes', { compressedBytes: 250 }, /more than 250 bytes/],
])('the limit of %s is for all layers of an image together', async (_title, limit, message) => {
  const layers = ['a', 'b', 'c'].map((name) => ({
    isCompressed: true,
    chunks: Readable.from([rawTgz([{ name, content: '1234567'.repeat(1_000) }])]),
  }));
  const options = { title: 'web', directory, isImage: true };
  await expect(
    unpackLayers(layers, { ...options, limits: { ...UNPACK_LIMITS, ...limit } }, SIGNAL),
  ).rejects.toMatchObject({ code: 'ARTIFACT_INVALID', message: expect.stringMatching(message) });
  expect(await readdir(directory)).toEqual([]);
});

test('entries that add nothing are limited too', async () => {
  const layer = {
    isCompressed: true,
    chunks: Readable.from([rawTgz([CHART, { name: 'd/' }, { name: 'd/' }])]),
  };
  const limits = { ...UNPACK_LIMITS, entries: 2 };
  await expect(unpackLayers([layer], { title: 'web', directory, limits }, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: 'web: there are more than 2 files and directories in it',
  });
});

test('headers without entries are limited too', async () => {
  const headers = Array.from({ length: 40 }, () => paxHeader({ comment: 'x'.repeat(60_000) }, 'g'));
  const layer = { isCompressed: true, chunks: Readable.from([rawTgz([CHART, ...headers])]) };
  const limits = { ...UNPACK_LIMITS, bytes: 1_000_000, ratio: Infinity };
  await expect(unpackLayers([layer], { title: 'web', directory, limits }, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: 'web: the archive has more than 2000000 bytes',
  });
});

test('a blob with other bytes is refused, also behind the end of the archive', async () => {
  const bytes = rawTgz([CHART]);
  const wanted = artifact('module', bytes);
  const digest = wanted.layers[0]?.digest ?? '';
  // Zeros behind a gzip are no error for gzip.
  repository.blobs.set(digest, Buffer.concat([bytes, Buffer.alloc(10)]));
  await expect(unpackArtifact(repository, wanted, directory, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
  });
  repository.blobs.set(
    digest,
    Buffer.concat([gzipSync(Buffer.concat([rawTar([CHART]), Buffer.alloc(100_000)]))]),
  );
  await expect(unpackArtifact(repository, wanted, directory, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
  });
  expect(await readdir(directory)).toEqual([]);
});

test('an error of the registry stays what it is, and nothing is left', async () => {
  const wanted = artifact('deckhouse', rawTgz([CHART]), rawTgz([{ name: 'a' }]));
  repository.blobs.delete(wanted.layers[1]?.digest ?? '');
  await expect(unpackArtifact(repository, wanted, directory, SIGNAL)).rejects.toMatchObject({
    code: 'REGISTRY_NOT_FOUND',
  });
  expect(await readdir(directory)).toEqual([]);
});
